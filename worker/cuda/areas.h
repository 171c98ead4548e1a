/* The memory that a CUDA candidate is called on: the referee's areas, mapped from their
 * descriptors (with read-only arguments), and separate scratch memory. See docs/gpu.md. */
#ifndef PRAGMA_WORKER_CUDA_AREAS_H_
#define PRAGMA_WORKER_CUDA_AREAS_H_

#include <stddef.h>
#include <stdint.h>

#include "worker/protocol.h"

struct cuda_areas {
  uint64_t inputs; /* device addresses */
  uint64_t outputs;
  size_t pointer_count; /* per set: arguments, outputs, scratch, stream, padded with null */
  void** pointers;      /* set_count * pointer_count pointers */
  uint64_t scratch;     /* device address */
  size_t scratch_bytes; /* size of its allocation */
};

/* Maps the whole control page of the descriptor. Returns NULL when it cannot be mapped. */
struct pragma_control* cuda_areas_open_control(int fd);
/* Receives the one line that waits in a socket, and the `count` descriptors that came with it.
 * The line is returned without its end and cut to `size`. Returns 0, or -1 on failure. */
int cuda_areas_receive(int end, int* fds, int count, char* line, size_t size);
/* Maps arguments and outputs. `end` is a socket that holds their descriptors. The driver must be
 * open. Returns 0, or -1 with the reason in `why`. */
int cuda_areas_map(struct cuda_areas* areas, const struct pragma_control* control, int end,
                   char* why, size_t size);
/* Makes the scratch memory and the lists of pointers. Returns 0, or -1 with the reason in `why`. */
int cuda_areas_lay_out(struct cuda_areas* areas, const struct pragma_control* control, void* stream,
                       char* why, size_t size);

#endif
