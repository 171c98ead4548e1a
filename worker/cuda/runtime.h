/* The part of CUDA's runtime that a candidate may call, over the driver: registration and launch,
 * as nvcc's host code asks for them, and a few functions of cuda_runtime_api.h. A candidate is
 * linked with no other: what is not here it cannot call (build/cuda_symbols.cc names them to
 * authors). */
#ifndef PRAGMA_WORKER_CUDA_RUNTIME_H_
#define PRAGMA_WORKER_CUDA_RUNTIME_H_

/* The first thing that went wrong since it was last asked; NULL: nothing did. */
const char* cuda_runtime_failure(void);
void cuda_runtime_forget(void);

#endif
