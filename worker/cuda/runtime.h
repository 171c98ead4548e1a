/* The part of CUDA's runtime that a candidate may call, implemented with the driver:
 * registration and launch, as nvcc's host code calls them, and a few functions of
 * cuda_runtime_api.h. A candidate is linked with no other runtime, so it can call only these
 * functions (build/cuda_symbols.cc names them to authors). */
#ifndef PRAGMA_WORKER_CUDA_RUNTIME_H_
#define PRAGMA_WORKER_CUDA_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

/* Returns the first failure since cuda_runtime_forget was called, or NULL if there was none. */
const char* cuda_runtime_failure(void);
void cuda_runtime_forget(void);

/* Clears everything that an earlier call left here. Call it before each call of a candidate. */
void cuda_runtime_begin_call(void);
/* Finds a variable of the candidate's device code. Returns whether there is one of that name. */
int cuda_runtime_find_variable(const char* name, uint64_t* address, size_t* bytes);
/* Returns the largest local memory per thread of any of its kernels, in bytes. */
int cuda_runtime_local_bytes(void);

/* cuda_launch: a launch as it is passed to the driver. */
struct cuda_launch {
  const char* name; /* name of the kernel, as the compiler writes it */
  void* function;   /* the driver's handle of the kernel */
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes; /* dynamic shared memory */
  void* stream;
};
/* cuda_watch: functions that are called before and after each launch. NULL: none. For the
 * profiler's program only. */
struct cuda_watch {
  void (*before)(const struct cuda_launch*);
  void (*after)(const struct cuda_launch*);
};
void cuda_runtime_watch(const struct cuda_watch* watch);

#endif
