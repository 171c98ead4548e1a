/* Writes random bytes into everything in which a call could find data of earlier calls: freed
 * heap blocks, the stack below the stack pointer (of every OpenMP thread), vector, mask, MMX and
 * x87 registers, sticky floating-point flags, the base of gs and errno. A kernel whose result
 * depends on any of these gives results that differ from call to call. */
#ifndef PRAGMA_WORKER_SCRAMBLE_H_
#define PRAGMA_WORKER_SCRAMBLE_H_

#include <stddef.h>
#include <stdint.h>

#include "worker/cpu/openmp.h"

/* Records where the main thread's stack begins. Call it once, in the main thread, before
 * candidate code runs. */
void scramble_begin(void);
/* Scrambles everything except the registers for the following call, and the memory that malloc
 * returns during that call. */
void scramble_memory(uint32_t seed, const struct openmp* openmp);
/* Scrambles the registers. Call it immediately before the candidate, because no other code may
 * use a register in between. The modes in MXCSR and x87 stay unchanged. */
void scramble_registers(uint32_t seed);
/* Ends the scrambling after the call: malloc returns memory unchanged again. */
void scramble_end(void);

/* Defined in heap.c. Call it before any filter is installed. */
void heap_begin(void);
/* Defined in heap.c. Nonzero while malloc fills the blocks that it returns and gets back. */
extern uint32_t scramble_heap_seed;
/* Fills memory with pseudo-random bytes from a seed (xorshift64*; Vigna 2016). */
void scramble_fill(void* memory, size_t bytes, uint64_t seed);

#endif
