/* Copies a CUDA candidate's kept memory on the device to pragma and back. This is the variables
 * of its device code, then its scratch memory, at most PRAGMA_KEPT_BYTES. */
#ifndef PRAGMA_WORKER_CUDA_KEPT_H_
#define PRAGMA_WORKER_CUDA_KEPT_H_

#include <stddef.h>
#include <stdint.h>

/* Finds that memory, once the candidate is loaded. `names` lists the candidate's variables,
 * separated by spaces. The function alters it. */
void cuda_kept_find(char* names, uint64_t scratch, size_t scratch_bytes);

enum cuda_kept_direction { kKeptRead, kKeptWrite };
/* Copies the kept memory. `fd` is the kept area, which is mapped only during the copy. Returns
 * 0, a CUresult, or -1. */
int cuda_kept_copy(int fd, enum cuda_kept_direction direction);

#endif
