/* A CUDA candidate's kept memory on the device, to and from pragma: the variables of its device
 * code, then its scratch memory, PRAGMA_KEPT_BYTES at most. */
#ifndef PRAGMA_WORKER_CUDA_KEPT_H_
#define PRAGMA_WORKER_CUDA_KEPT_H_

#include <stddef.h>
#include <stdint.h>

/* Once the candidate is loaded. `names`: of its variables, with spaces between them; altered. */
void cuda_kept_find(char* names, uint64_t scratch, size_t scratch_bytes);

enum cuda_kept_direction { kKeptRead, kKeptWrite };
/* `fd`: the area, mapped for the time of the copy alone. 0, or a CUresult, or -1. */
int cuda_kept_copy(int fd, enum cuda_kept_direction direction);

#endif
