#define _GNU_SOURCE
#include "worker/load/kernel_memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/load/pointer_call.h"

static char* map(int fd, uint64_t bytes, int protection) {
  if (bytes == 0) return NULL;
  /* The memory is populated, so that the first call does not pay for page faults that the worker
   * causes. */
  void* address = mmap(NULL, bytes, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  return address == MAP_FAILED ? NULL : (char*)address;
}

/* Protects the guard pages on both sides of each tensor. An overrun that reaches one dies of
 * SIGSEGV. Their offsets follow the tensors' offsets in the layout: input guards, then output
 * guards. */
static void guard(const struct kernel_memory* memory) {
  const struct pragma_control* control = memory->control;
  const size_t per_set = (size_t)control->argument_count + control->output_count;
  const uint64_t* guards = pragma_offsets(memory->control) + control->set_count * per_set;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (uint32_t i = 0; i < control->input_guard_count; ++i) {
    mprotect(memory->inputs + *guards++, page, PROT_NONE);
  }
  for (uint32_t i = 0; i < control->output_guard_count; ++i) {
    mprotect(memory->outputs + *guards++, page, PROT_NONE);
  }
}

static char* packed_area(const struct kernel_memory* memory, uint32_t set) {
  return memory->scratch + memory->control->packed_offset + set * memory->control->packed_stride;
}

static int lay_out(struct kernel_memory* memory) {
  struct pragma_control* control = memory->control;
  const uint32_t arguments = control->argument_count;
  const uint32_t outputs = control->output_count;
  memory->pointer_count = pointer_call_padded((size_t)arguments + outputs + 2);
  memory->pointers = calloc((size_t)control->set_count * memory->pointer_count, sizeof(void*));
  if (memory->pointers == NULL) return -1;
  const uint64_t* offset = pragma_offsets(control);
  for (uint32_t set = 0; set < control->set_count; ++set) {
    void** p = memory->pointers + set * memory->pointer_count;
    for (uint32_t i = 0; i < arguments; ++i) *p++ = memory->inputs + *offset++;
    for (uint32_t i = 0; i < outputs; ++i) *p++ = memory->outputs + *offset++;
    if (control->packed_bytes != 0) *p++ = packed_area(memory, set);
    *p = memory->scratch;
  }
  return 0;
}

int kernel_memory_open(struct kernel_memory* memory) {
  void* page = mmap(NULL, sizeof(struct pragma_control), PROT_READ, MAP_SHARED, kControlFd, 0);
  if (page == MAP_FAILED) return -1;
  const struct pragma_control* header = page;
  const size_t guards = (size_t)header->input_guard_count + header->output_guard_count;
  const size_t words = (size_t)header->set_count * (header->argument_count + header->output_count);
  const size_t bytes = sizeof(struct pragma_control) + (words + guards) * sizeof(uint64_t);
  munmap(page, sizeof(struct pragma_control));
  memory->control = (struct pragma_control*)map(kControlFd, bytes, PROT_READ | PROT_WRITE);
  return memory->control != NULL && memory->control->magic == PRAGMA_CONTROL_MAGIC ? 0 : -1;
}

int kernel_memory_map(struct kernel_memory* memory) {
  const struct pragma_control* control = memory->control;
  memory->inputs = map(kInputFd, control->input_bytes, PROT_READ);
  memory->outputs = map(kOutputFd, control->output_bytes, PROT_READ | PROT_WRITE);
  memory->scratch = map(kScratchFd, control->scratch_bytes, PROT_READ | PROT_WRITE);
  if ((control->input_bytes != 0 && memory->inputs == NULL) || memory->outputs == NULL ||
      (control->scratch_bytes != 0 && memory->scratch == NULL) || lay_out(memory) != 0) {
    return -1;
  }
  guard(memory);
  return 0;
}

void kernel_memory_call(const struct kernel_memory* memory, void (*kernel)(void), uint32_t set) {
  pointer_call(kernel, memory->pointers + set * memory->pointer_count, memory->pointer_count);
}

/* Sets the protection of the packed areas, which begin at a separate page
 * (harness/worker_memory.cc). */
static void protect_packed(const struct kernel_memory* memory, int protection) {
  const struct pragma_control* control = memory->control;
  const uint64_t bytes = control->scratch_bytes - control->packed_offset;
  if (control->packed_bytes != 0)
    mprotect(memory->scratch + control->packed_offset, bytes, protection);
}

void kernel_memory_open_packed(const struct kernel_memory* memory) {
  protect_packed(memory, PROT_READ | PROT_WRITE);
}

void kernel_memory_close_packed(const struct kernel_memory* memory) {
  protect_packed(memory, PROT_READ);
}

int kernel_memory_prepare(const struct kernel_memory* memory, void (*prepare)(void), uint32_t set) {
  const struct pragma_control* control = memory->control;
  const size_t dims = control->has_dims != 0 ? 1 : 0;
  const size_t count = pointer_call_padded(dims + control->parameter_count + 1);
  void** list = calloc(count, sizeof(void*));
  if (list == NULL) return -1;
  void** pointers = memory->pointers + set * memory->pointer_count;
  const uint32_t first = control->argument_count - control->parameter_count;
  if (dims != 0) list[0] = pointers[0];
  for (uint32_t k = 0; k < control->parameter_count; ++k) list[dims + k] = pointers[first + k];
  list[dims + control->parameter_count] = packed_area(memory, set);
  pointer_call(prepare, list, count);
  free(list);
  return 0;
}
