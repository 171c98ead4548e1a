/* The part of CUDA's runtime that a candidate may call, over the driver: registration and launch,
 * as nvcc's host code asks for them, and a few functions of cuda_runtime_api.h. A candidate is
 * linked with no other: what is not here it cannot call (build/cuda_symbols.cc names them to
 * authors). */
#ifndef PRAGMA_WORKER_CUDA_RUNTIME_H_
#define PRAGMA_WORKER_CUDA_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

/* The first thing that went wrong since it was last asked; NULL: nothing did. */
const char* cuda_runtime_failure(void);
void cuda_runtime_forget(void);

/* Before each call of a candidate: nothing of an earlier one is left here. */
void cuda_runtime_begin_call(void);
/* A variable of the candidate's device code; whether there is one. */
int cuda_runtime_find_variable(const char* name, uint64_t* address, size_t* bytes);
/* Most local memory that one of its kernels has for a thread. */
int cuda_runtime_local_bytes(void);

/* A launch as it is handed to the driver. */
struct cuda_launch {
  const char* name; /* the kernel's, as the compiler has it */
  void* function;   /* the driver's */
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes; /* dynamic */
  void* stream;
};
/* Who is told of each launch before and after it; NULL: nobody. For the profiler's program only. */
struct cuda_watch {
  void (*before)(const struct cuda_launch*);
  void (*after)(const struct cuda_launch*);
};
void cuda_runtime_watch(const struct cuda_watch* watch);

#endif
