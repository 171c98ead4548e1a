/* pragma-worker: loads ONE candidate, runs it on shared memory, and dies. It runs in the worker
 * jail.
 *
 * Descriptors: 3 control page, 4 inputs (sealed: no writable mapping can be made), 5 outputs, 6
 * scratch. Argument: path of the shared object. docs/worker-protocol.md has the whole protocol.
 *
 * pragma trusts nothing here, because the candidate shares this address space. The protections
 * of the verdict are outside (sealed memory, poison, the parent's clock and comparator,
 * seccomp). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "worker/cpu/filter.h"
#include "worker/cpu/object.h"
#include "worker/cpu/openmp.h"
#include "worker/cpu/scramble.h"
#include "worker/load/candidate.h"
#include "worker/load/kernel_memory.h"
#include "worker/protocol.h"

/* fp_mode: rounding, flushing of denormals, and exception masks. A call must leave them
 * unchanged, because in real use it runs in a process that also computes other things. The
 * status flags are not included. */
struct fp_mode {
  uint32_t vector;
  uint32_t x87;
};

struct worker {
  struct kernel_memory memory;
  const char* path; /* path of the shared object */
  void (*kernel)(void);
  void (*prepare)(void);
  struct fp_mode fp_mode; /* mode before the candidate was loaded */
  struct openmp openmp;
  int llvm_openmp;
};

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

/* Checks the settings that a call must leave unchanged. */
static void check_settings(struct worker* worker) {
  if (!openmp_unchanged(&worker->openmp)) worker->memory.control->openmp_changed = 1;
  const struct fp_mode now = read_fp_mode();
  if (now.vector != worker->fp_mode.vector || now.x87 != worker->fp_mode.x87) {
    worker->memory.control->fp_mode = 1;
  }
}

/* Installs what must be in force before any code of the candidate runs. Returns what failed, or
 * NULL. */
static const char* confine(struct worker* worker, void* handle) {
  struct pragma_control* control = worker->memory.control;
  openmp_find(&worker->openmp);
  if (control->seal_data != 0 && object_seal(handle) != 0) return "cannot protect its data";
  const struct object_range range = object_range(handle);
  if (pragma_filter_object(range.begin, range.end) != 0)
    return "cannot install the seccomp filter of the kernel's own code";
  if (pragma_filter_run(worker->llvm_openmp ? PRAGMA_RUNTIME_LLVM : PRAGMA_RUNTIME_ANY) != 0)
    return "cannot install the last seccomp filter";
  return NULL;
}

struct thread_report {
  void* handle; /* of the candidate's object */
  const struct openmp* openmp;
  struct pragma_control* control;
};

/* Runs in each thread that may execute the candidate's code. */
static void say_where_thread_data_lie(void* data) {
  const struct thread_report* report = data;
  const unsigned place = openmp_thread_number(report->openmp);
  if (place < PRAGMA_MAX_THREADS)
    report->control->thread_data[place] = object_thread_data(report->handle);
}

static void say_where_data_lie(const struct worker* worker, void* handle) {
  struct pragma_control* control = worker->memory.control;
  const struct object_range data = object_data(handle);
  control->data_address = data.begin;
  control->data_bytes = control->seal_data != 0 ? 0 : data.end - data.begin;
  control->thread_bytes = object_thread_bytes(handle);
  if (control->thread_bytes == 0) return;
  struct thread_report report = {handle, &worker->openmp, control};
  say_where_thread_data_lie(&report);
  openmp_everywhere(&worker->openmp, say_where_thread_data_lie, &report);
}

/* Hides the processor's clock, and with it the system's clock, which is read from it. A kernel
 * that reads one dies of SIGSEGV. LLVM's OpenMP runtime itself reads the clock while it waits,
 * so it is not hidden there. */
static void hide_clock(const struct worker* worker) {
#if defined(__x86_64__)
  if (!worker->llvm_openmp) prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#else
  (void)worker;
#endif
}

static int load(struct worker* worker) {
  struct pragma_control* control = worker->memory.control;
  if (kernel_memory_map(&worker->memory) != 0) {
    candidate_say(control, "cannot map the shared memory: the address space limit is too small");
    return PRAGMA_LOAD_FAILED;
  }
  /* The first filter is in force for the loader and for the libraries' own initializers. */
  if (pragma_filter_load() != 0) {
    candidate_say(control, "cannot install the first seccomp filter");
    return PRAGMA_LOAD_FAILED;
  }
  worker->fp_mode = read_fp_mode();
  void* handle = dlopen(worker->path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    candidate_say(control, dlerror());
    return PRAGMA_LOAD_FAILED;
  }
  *(void**)&worker->kernel = dlsym(handle, "pragma_kernel");
  *(void**)&worker->prepare = dlsym(handle, "pragma_prepare");
  if (worker->kernel == NULL) {
    candidate_say(control, "the shared object has no pragma_kernel");
    return PRAGMA_LOAD_FAILED;
  }
  for (int fd = kControlFd; fd <= kScratchFd; ++fd) close(fd);
  const char* failure = confine(worker, handle);
  if (failure != NULL) {
    candidate_say(control, failure);
    return PRAGMA_LOAD_FAILED;
  }
  candidate_construct(handle);
  say_where_data_lie(worker, handle);
  check_settings(worker);
  return PRAGMA_OK;
}

/* Handles RUN with a seed: see scramble in protocol.h. */
static void call_scrambled(struct worker* worker, uint32_t set, uint32_t seed) {
  scramble_memory(seed, &worker->openmp);
  scramble_registers(seed);
  kernel_memory_call(&worker->memory, worker->kernel, set);
  scramble_end();
}

static int run(struct worker* worker, int empty) {
  const struct pragma_control* control = worker->memory.control;
  for (uint32_t i = 0; i < control->count; ++i) {
    if (!empty && control->scramble != 0) {
      call_scrambled(worker, control->sets[i], control->scramble + i);
    } else if (!empty) {
      kernel_memory_call(&worker->memory, worker->kernel, control->sets[i]);
    }
    __asm__ volatile("" ::: "memory");
  }
  if (!empty) check_settings(worker);
  return PRAGMA_OK;
}

static int prepare(struct worker* worker) {
  const struct pragma_control* control = worker->memory.control;
  if (worker->prepare == NULL) return PRAGMA_BAD_COMMAND;
  kernel_memory_open_packed(&worker->memory);
  for (uint32_t i = 0; i < control->count; ++i) {
    if (kernel_memory_prepare(&worker->memory, worker->prepare, control->sets[i]) != 0)
      return PRAGMA_BAD_COMMAND;
  }
  kernel_memory_close_packed(&worker->memory);
  return PRAGMA_OK;
}

static int serve(void* state) {
  struct worker* worker = state;
  switch (worker->memory.control->command) {
    case PRAGMA_LOAD: return load(worker);
    case PRAGMA_RUN: return run(worker, 0);
    case PRAGMA_EMPTY: return run(worker, 1);
    case PRAGMA_PREPARE: return prepare(worker);
    default: return PRAGMA_BAD_COMMAND;
  }
}

static int print_library(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  if (info->dlpi_name != NULL && info->dlpi_name[0] == '/') puts(info->dlpi_name);
  return 0;
}

/* Prints what the jail must bind: the libraries that a candidate may link, and the libraries
 * that these need. */
static int print_libraries(void) {
  const char* const names[] = {"libm.so.6",    "libmvec.so.1",   "libgcc_s.so.1",
                               "libgomp.so.1", "libstdc++.so.6", "libomp.so.5"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) dlopen(names[i], RTLD_NOW);
  dl_iterate_phdr(print_library, NULL);
  return 0;
}

/* Starts LLVM's OpenMP runtime, which examines the machine on its first use. GCC's runtime does
 * so while it is loaded. The first use therefore comes before the candidate and the filters. */
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
  if (llvm_openmp && start_llvm_openmp() != 0) return 4;
  worker.path = argv[1];
  worker.llvm_openmp = llvm_openmp;
  heap_begin();
  scramble_begin();
  hide_clock(&worker);
  candidate_serve(worker.memory.control, serve, &worker);
}
