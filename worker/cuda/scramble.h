/* Pseudo-random bytes in whatever of the device's memory an earlier call could have left something
 * in: shared memory and registers of every multiprocessor, local memory, and memory that is named.
 * The kernels are python/pragma_triton/scramble.ptx, which the driver compiles. */
#ifndef PRAGMA_WORKER_CUDA_SCRAMBLE_H_
#define PRAGMA_WORKER_CUDA_SCRAMBLE_H_

#include <stddef.h>
#include <stdint.h>

/* After the driver is open, before there is a candidate. 0, or -1 with the reason in `why`. */
int cuda_scramble_open(char* why, size_t size);
/* Waits for the device before and after. `local_bytes`: of a thread, at least. `memory` begins at a
 * multiple of 16; no bytes: none. A CUresult. */
int cuda_scramble(uint32_t seed, int local_bytes, uint64_t memory, size_t bytes, void* stream);

#endif
