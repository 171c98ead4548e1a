/* The memory that a candidate's kernel is called on, in the layout of the control page, and the
 * call itself. For the worker and for the profiler's host. */
#ifndef PRAGMA_WORKER_KERNEL_MEMORY_H_
#define PRAGMA_WORKER_KERNEL_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

#include "worker/protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kControlFd = 3, kInputFd = 4, kOutputFd = 5, kScratchFd = 6 };

struct kernel_memory {
  struct pragma_control* control;
  char* inputs;
  char* outputs;
  char* scratch;
  size_t pointer_count; /* per set: arguments, outputs, packed, scratch, padded with null */
  void** pointers;      /* set_count * pointer_count pointers */
};

/* Maps the control page of kControlFd. Returns 0, or -1 on failure. */
int kernel_memory_open(struct kernel_memory* memory);
/* Maps the other descriptors and protects the guard pages. Returns 0, or -1 when there is not
 * enough memory. */
int kernel_memory_map(struct kernel_memory* memory);
/* Calls pragma_kernel on one set. */
void kernel_memory_call(const struct kernel_memory* memory, void (*kernel)(void), uint32_t set);
/* Makes the packed areas writable, for pragma_prepare, or read-only, for the kernel. */
void kernel_memory_open_packed(const struct kernel_memory* memory);
void kernel_memory_close_packed(const struct kernel_memory* memory);
/* Calls pragma_prepare on one set. Returns 0, or -1 when there is not enough memory. */
int kernel_memory_prepare(const struct kernel_memory* memory, void (*prepare)(void), uint32_t set);

#ifdef __cplusplus
}
#endif

#endif
