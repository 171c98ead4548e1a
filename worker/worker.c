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
#include "worker/kernel_memory.h"
#include "worker/protocol.h"

/* Rounding, flushing of denormals, masks: whatever a call must leave as it found it, since in use
 * it runs in a process that computes other things too. The status flags are no part of it. */
struct fp_mode {
  uint32_t vector;
  uint32_t x87;
};

struct worker {
  struct kernel_memory memory;
  void (*kernel)(void);
  void (*prepare)(void);
  struct fp_mode fp_mode; /* as it was before the candidate was loaded */
};

static void say(struct pragma_control* control, const char* text) {
  strncpy(control->message, text, sizeof(control->message) - 1);
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
    worker->memory.control->fp_mode = 1;
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
  struct pragma_control* control = worker->memory.control;
  if (kernel_memory_map(&worker->memory) != 0) {
    say(control, "cannot map the shared memory: the address space limit is too small");
    return PRAGMA_LOAD_FAILED;
  }
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
  const struct pragma_control* control = worker->memory.control;
  for (uint32_t i = 0; i < control->count; ++i) {
    if (!empty) kernel_memory_call(&worker->memory, worker->kernel, control->sets[i]);
    __asm__ volatile("" ::: "memory");
  }
  check_fp_mode(worker);
  return PRAGMA_OK;
}

static int prepare(struct worker* worker) {
  const struct pragma_control* control = worker->memory.control;
  if (worker->prepare == NULL) return PRAGMA_BAD_COMMAND;
  for (uint32_t i = 0; i < control->count; ++i) {
    if (kernel_memory_prepare(&worker->memory, worker->prepare, control->sets[i]) != 0)
      return PRAGMA_BAD_COMMAND;
  }
  return PRAGMA_OK;
}

static int serve(struct worker* worker, const char* path) {
  switch (worker->memory.control->command) {
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

/* LLVM's OpenMP looks round the machine when it is first asked for anything; GCC's does so while it
 * is loaded. It is asked before the candidate and the filters are there. */
static int start_llvm_openmp(void) {
  void* handle = dlopen("libomp.so.5", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return -1;
  int (*places)(void) = NULL;
  *(void**)&places = dlsym(handle, "omp_get_num_places");
  if (places == NULL) return -1;
  places();
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--libraries") == 0) return print_libraries();
  const int llvm_openmp = argc == 3 && strcmp(argv[2], "--llvm-openmp") == 0;
  if (argc != 2 && !llvm_openmp) return 2;
  struct worker worker = {0};
  if (kernel_memory_open(&worker.memory) != 0) return 3;
  struct pragma_control* control = worker.memory.control;
  if (llvm_openmp && start_llvm_openmp() != 0) return 4;
  uint32_t served = 0;
  for (;;) {
    uint32_t ticket = __atomic_load_n(&control->doorbell, __ATOMIC_ACQUIRE);
    if (ticket == served) {
      futex(&control->doorbell, FUTEX_WAIT, served);
      continue;
    }
    if (control->command == PRAGMA_EXIT) _exit(0);
    control->result = (uint32_t)serve(&worker, argv[1]);
    served = ticket;
    __atomic_store_n(&control->done, ticket, __ATOMIC_RELEASE);
    futex(&control->done, FUTEX_WAKE, 1);
  }
}
