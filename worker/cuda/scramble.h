/* Writes pseudo-random bytes into all device memory in which an earlier call could have left
 * data: shared memory and registers of every multiprocessor, local memory, and a given range of
 * memory. The kernels are in python/pragma_triton/scramble.ptx, which the driver compiles. */
#ifndef PRAGMA_WORKER_CUDA_SCRAMBLE_H_
#define PRAGMA_WORKER_CUDA_SCRAMBLE_H_

#include <stddef.h>
#include <stdint.h>

/* Loads the kernels, after the driver is open and before there is a candidate. Returns 0, or -1
 * with the reason in `why`. */
int cuda_scramble_open(char* why, size_t size);
/* Scrambles the memory, and waits for the device before and after. `local_bytes` is the least
 * local memory per thread to scramble. `memory` must be a multiple of 16. If `bytes` is 0, no
 * range is scrambled. Returns a CUresult. */
int cuda_scramble(uint32_t seed, int local_bytes, uint64_t memory, size_t bytes, void* stream);

#endif
