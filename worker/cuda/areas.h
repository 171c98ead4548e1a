/* What a CUDA candidate is called on: the referee's areas, mapped from their descriptors (arguments
 * so that they can only be read), and scratch memory of its own. docs/gpu.md */
#ifndef PRAGMA_WORKER_CUDA_AREAS_H_
#define PRAGMA_WORKER_CUDA_AREAS_H_

#include <stddef.h>
#include <stdint.h>

#include "worker/protocol.h"

struct cuda_areas {
  uint64_t inputs; /* addresses on the device */
  uint64_t outputs;
  size_t pointer_count; /* per set: arguments, outputs, scratch, stream, padded with null */
  void** pointers;      /* set_count * pointer_count */
  uint64_t scratch;     /* an address on the device */
  size_t scratch_bytes; /* of its allocation */
};

/* The control page of the descriptor, whole; NULL when it cannot be mapped. */
struct pragma_control* cuda_areas_open_control(int fd);
/* The one line that waits in a socket, without its end and cut to `size`, and the `count`
 * descriptors that came with it; 0, or -1. */
int cuda_areas_receive(int end, int* fds, int count, char* line, size_t size);
/* `end`: a socket that holds the descriptors of arguments and outputs. The driver must be open. 0,
 * or -1 with the reason in `why`. */
int cuda_areas_map(struct cuda_areas* areas, const struct pragma_control* control, int end,
                   char* why, size_t size);
/* Makes the scratch memory and the lists of pointers; likewise. */
int cuda_areas_lay_out(struct cuda_areas* areas, const struct pragma_control* control, void* stream,
                       char* why, size_t size);

#endif
