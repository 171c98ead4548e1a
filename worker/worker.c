/* pragma-worker: loads ONE candidate, runs it on shared memory, and dies. Runs in the worker jail.
 *
 * Descriptors: 3 control page, 4 inputs (sealed: no writable mapping can be made), 5 outputs,
 * 6 scratch. Argument: path of the shared object. docs/worker-protocol.md has the whole protocol.
 *
 * Nothing here is trusted by pragma: the candidate shares this address space. What protects the
 * verdict is outside (sealed memory, poison, the parent's clock and comparator, seccomp). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/deferred_tag.h"
#include "worker/filter.h"
#include "worker/protocol.h"

enum { kControlFd = 3, kInputFd = 4, kOutputFd = 5, kScratchFd = 6 };

/* Rounding, flushing of denormals, masks: whatever a call must leave as it found it, since in use
 * it runs in a process that computes other things too. The status flags are no part of it. */
struct fp_mode {
  uint32_t vector;
  uint32_t x87;
};

struct worker {
  struct pragma_control* control;
  char* inputs;
  char* outputs;
  char* scratch;
  void (*kernel)(void);
  void (*prepare)(void);
  struct fp_mode fp_mode; /* as it was before the candidate was loaded */
  size_t pointer_count;   /* per set: arguments, outputs, packed, scratch, padded with null */
  void** pointers;        /* set_count * pointer_count */
};

/* The candidate takes N pointers. The System V ABIs of x86-64 and AArch64 let a caller pass more
 * arguments than the callee takes (the caller cleans up, the first ones lie where they always do),
 * so the list is padded to the next of these counts instead of generating code per task. */
#define P1(p, i) (p)[i]
#define P4(p, i) P1(p, i), P1(p, (i) + 1), P1(p, (i) + 2), P1(p, (i) + 3)
#define P16(p, i) P4(p, i), P4(p, (i) + 4), P4(p, (i) + 8), P4(p, (i) + 12)
#define P64(p, i) P16(p, i), P16(p, (i) + 16), P16(p, (i) + 32), P16(p, (i) + 48)
#define P256(p, i) P64(p, i), P64(p, (i) + 64), P64(p, (i) + 128), P64(p, (i) + 192)
#define P1024(p) P256(p, 0), P256(p, 256), P256(p, 512), P256(p, 768)
#define V4 void*, void*, void*, void*
#define V16 V4, V4, V4, V4
#define V64 V16, V16, V16, V16
#define V256 V64, V64, V64, V64
typedef void (*call8)(V4, V4);
typedef void (*call16)(V16);
typedef void (*call64)(V64);
typedef void (*call256)(V256);
typedef void (*call1024)(V256, V256, V256, V256);

static void call(void (*function)(void), void** p, size_t count) {
  switch (count) {
    case 8: ((call8)function)(P4(p, 0), P4(p, 4)); break;
    case 16: ((call16)function)(P16(p, 0)); break;
    case 64: ((call64)function)(P64(p, 0)); break;
    case 256: ((call256)function)(P256(p, 0)); break;
    default: ((call1024)function)(P1024(p)); break;
  }
}

static size_t padded(size_t count) {
  const size_t sizes[] = {8, 16, 64, 256};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    if (count <= sizes[i]) return sizes[i];
  }
  return 1024;
}

static void say(struct pragma_control* control, const char* text) {
  strncpy(control->message, text, sizeof(control->message) - 1);
}

static char* map(int fd, uint64_t bytes, int protection) {
  if (bytes == 0) return NULL;
  /* Populated: the first call must not pay for page faults of our making. */
  void* address = mmap(NULL, bytes, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  return address == MAP_FAILED ? NULL : (char*)address;
}

/* Guard pages round each tensor: an overrun that reaches one dies of SIGSEGV. Their offsets follow
 * the tensors' offsets in the layout: input guards, then output guards. */
static void guard(const struct worker* worker) {
  const struct pragma_control* control = worker->control;
  const size_t per_set = (size_t)control->argument_count + control->output_count;
  const uint64_t* guards = pragma_offsets(worker->control) + control->set_count * per_set;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (uint32_t i = 0; i < control->input_guard_count; ++i) {
    mprotect(worker->inputs + *guards++, page, PROT_NONE);
  }
  for (uint32_t i = 0; i < control->output_guard_count; ++i) {
    mprotect(worker->outputs + *guards++, page, PROT_NONE);
  }
}

static char* packed_area(const struct worker* worker, uint32_t set) {
  return worker->scratch + worker->control->packed_offset + set * worker->control->packed_stride;
}

static int lay_out(struct worker* worker) {
  struct pragma_control* control = worker->control;
  const uint32_t arguments = control->argument_count;
  const uint32_t outputs = control->output_count;
  worker->pointer_count = padded((size_t)arguments + outputs + 2);
  worker->pointers = calloc((size_t)control->set_count * worker->pointer_count, sizeof(void*));
  if (worker->pointers == NULL) return -1;
  const uint64_t* offset = pragma_offsets(control);
  for (uint32_t set = 0; set < control->set_count; ++set) {
    void** p = worker->pointers + set * worker->pointer_count;
    for (uint32_t i = 0; i < arguments; ++i) *p++ = worker->inputs + *offset++;
    for (uint32_t i = 0; i < outputs; ++i) *p++ = worker->outputs + *offset++;
    if (control->packed_bytes != 0) *p++ = packed_area(worker, set);
    *p = worker->scratch;
  }
  return 0;
}

static struct fp_mode read_fp_mode(void) {
  struct fp_mode mode = {0, 0};
#if defined(__x86_64__)
  uint16_t control = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(mode.vector));
  __asm__ volatile("fnstcw %0" : "=m"(control));
  mode.vector &= 0xffc0u;
  mode.x87 = control;
#elif defined(__aarch64__)
  uint64_t control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  mode.vector = (uint32_t)control;
#endif
  return mode;
}

static void check_fp_mode(struct worker* worker) {
  const struct fp_mode now = read_fp_mode();
  if (now.vector != worker->fp_mode.vector || now.x87 != worker->fp_mode.x87) {
    worker->control->fp_mode = 1;
  }
}

/* The candidate's initializers, which the builder hid from the loader: nothing of a candidate runs
 * before the last filter is there. */
static void construct(void* handle) {
  typedef void (*initializer)(int, char**, char**);
  const struct link_map* map = NULL;
  initializer init = NULL;
  const initializer* array = NULL;
  size_t count = 0;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t address = map->l_addr + entry->d_un.d_ptr;
    switch (entry->d_tag - PRAGMA_DEFERRED_TAG) {
      case DT_INIT: init = (initializer)address; break;
      case DT_INIT_ARRAY: array = (const initializer*)address; break;
      case DT_INIT_ARRAYSZ: count = entry->d_un.d_val / sizeof(initializer); break;
      default: break;
    }
  }
  char name[] = "kernel";
  char* arguments[] = {name, NULL};
  if (init != NULL) init(1, arguments, environ);
  for (size_t i = 0; array != NULL && i < count; ++i) array[i](1, arguments, environ);
}

static int load(struct worker* worker, const char* path) {
  struct pragma_control* control = worker->control;
  worker->inputs = map(kInputFd, control->input_bytes, PROT_READ);
  worker->outputs = map(kOutputFd, control->output_bytes, PROT_READ | PROT_WRITE);
  worker->scratch = map(kScratchFd, control->scratch_bytes, PROT_READ | PROT_WRITE);
  if ((control->input_bytes != 0 && worker->inputs == NULL) || worker->outputs == NULL ||
      (control->scratch_bytes != 0 && worker->scratch == NULL) || lay_out(worker) != 0) {
    say(control, "cannot map the shared memory: the address space limit is too small");
    return PRAGMA_LOAD_FAILED;
  }
  guard(worker);
  /* The first filter is for the loader and for the libraries' own initializers. */
  if (pragma_filter_load() != 0) {
    say(control, "cannot install the first seccomp filter");
    return PRAGMA_LOAD_FAILED;
  }
  worker->fp_mode = read_fp_mode();
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    say(control, dlerror());
    return PRAGMA_LOAD_FAILED;
  }
  *(void**)&worker->kernel = dlsym(handle, "pragma_kernel");
  *(void**)&worker->prepare = dlsym(handle, "pragma_prepare");
  if (worker->kernel == NULL) {
    say(control, "the shared object has no pragma_kernel");
    return PRAGMA_LOAD_FAILED;
  }
  for (int fd = kControlFd; fd <= kScratchFd; ++fd) close(fd);
  if (pragma_filter_run() != 0) {
    say(control, "cannot install the second seccomp filter");
    return PRAGMA_LOAD_FAILED;
  }
  construct(handle);
  check_fp_mode(worker);
  return PRAGMA_OK;
}

static int run(struct worker* worker, int empty) {
  struct pragma_control* control = worker->control;
  for (uint32_t i = 0; i < control->count; ++i) {
    void** pointers = worker->pointers + control->sets[i] * worker->pointer_count;
    if (!empty) call(worker->kernel, pointers, worker->pointer_count);
    __asm__ volatile("" ::: "memory");
  }
  check_fp_mode(worker);
  return PRAGMA_OK;
}

static int prepare(struct worker* worker) {
  struct pragma_control* control = worker->control;
  if (worker->prepare == NULL) return PRAGMA_BAD_COMMAND;
  const size_t dims = control->has_dims != 0 ? 1 : 0;
  const size_t count = padded(dims + control->parameter_count + 1);
  void** list = calloc(count, sizeof(void*));
  if (list == NULL) return PRAGMA_BAD_COMMAND;
  for (uint32_t i = 0; i < control->count; ++i) {
    void** pointers = worker->pointers + control->sets[i] * worker->pointer_count;
    const uint32_t first = control->argument_count - control->parameter_count;
    if (dims != 0) list[0] = pointers[0];
    for (uint32_t k = 0; k < control->parameter_count; ++k) list[dims + k] = pointers[first + k];
    list[dims + control->parameter_count] = packed_area(worker, control->sets[i]);
    call(worker->prepare, list, count);
  }
  free(list);
  return PRAGMA_OK;
}

static int serve(struct worker* worker, const char* path) {
  switch (worker->control->command) {
    case PRAGMA_LOAD: return load(worker, path);
    case PRAGMA_RUN: return run(worker, 0);
    case PRAGMA_EMPTY: return run(worker, 1);
    case PRAGMA_PREPARE: return prepare(worker);
    default: return PRAGMA_BAD_COMMAND;
  }
}

static void futex(uint32_t* word, int operation, uint32_t value) {
  syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static int print_library(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  if (info->dlpi_name != NULL && info->dlpi_name[0] == '/') puts(info->dlpi_name);
  return 0;
}

/* What the jail must bind: the libraries a candidate may link, and their needs. */
static int print_libraries(void) {
  const char* const names[] = {"libm.so.6",    "libmvec.so.1",   "libgcc_s.so.1",
                               "libgomp.so.1", "libstdc++.so.6", "libomp.so.5"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) dlopen(names[i], RTLD_NOW);
  dl_iterate_phdr(print_library, NULL);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--libraries") == 0) return print_libraries();
  if (argc != 2) return 2;
  struct worker worker = {0};
  void* page = mmap(NULL, sizeof(struct pragma_control), PROT_READ, MAP_SHARED, kControlFd, 0);
  if (page == MAP_FAILED) return 3;
  const struct pragma_control* header = page;
  const size_t guards = (size_t)header->input_guard_count + header->output_guard_count;
  const size_t words = (size_t)header->set_count * (header->argument_count + header->output_count);
  const size_t bytes = sizeof(struct pragma_control) + (words + guards) * sizeof(uint64_t);
  munmap(page, sizeof(struct pragma_control));
  worker.control = (struct pragma_control*)map(kControlFd, bytes, PROT_READ | PROT_WRITE);
  if (worker.control == NULL || worker.control->magic != PRAGMA_CONTROL_MAGIC) return 3;
  uint32_t served = 0;
  for (;;) {
    uint32_t ticket = __atomic_load_n(&worker.control->doorbell, __ATOMIC_ACQUIRE);
    if (ticket == served) {
      futex(&worker.control->doorbell, FUTEX_WAIT, served);
      continue;
    }
    if (worker.control->command == PRAGMA_EXIT) _exit(0);
    worker.control->result = (uint32_t)serve(&worker, argv[1]);
    served = ticket;
    __atomic_store_n(&worker.control->done, ticket, __ATOMIC_RELEASE);
    futex(&worker.control->done, FUTEX_WAKE, 1);
  }
}
