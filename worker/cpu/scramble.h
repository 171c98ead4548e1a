/* Random bytes in whatever a call could find of earlier ones: freed heap blocks, the stack below
 * the stack pointer (of every OpenMP thread), vector, mask, MMX and x87 registers, sticky
 * floating-point flags, gs's base and errno. A kernel whose result depends on any of them differs
 * from call to call. */
#ifndef PRAGMA_WORKER_SCRAMBLE_H_
#define PRAGMA_WORKER_SCRAMBLE_H_

#include <stddef.h>
#include <stdint.h>

#include "worker/cpu/openmp.h"

/* Once, in the main thread, before candidate code: where its stack begins. */
void scramble_begin(void);
/* Everything but the registers, for the call that follows; and what malloc returns during it. */
void scramble_memory(uint32_t seed, const struct openmp* openmp);
/* Right before the call, for nothing may use a register in between. Leaves MXCSR's and x87's modes
 * as they are. */
void scramble_registers(uint32_t seed);
/* After the call: malloc gives memory as it is again. */
void scramble_end(void);

/* Of heap.c: before any filter. */
void heap_begin(void);
/* Of heap.c: nonzero while malloc fills what it gives out and takes back. */
extern uint32_t scramble_heap_seed;
/* Pseudo-random bytes from a seed (xorshift64*; Vigna 2016). */
void scramble_fill(void* memory, size_t bytes, uint64_t seed);

#endif
