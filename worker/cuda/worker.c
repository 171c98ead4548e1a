/* pragma-cuda-worker: loads ONE CUDA candidate, runs it on the referee's areas in the device's
 * memory, and dies. pragma-confine starts it, in a separate jail.
 *
 * Descriptors: 3 control page, 4 a socket with the areas, 5 a socket through which the
 * candidate's shared object arrives, once there is one, with the names of its device variables,
 * 6 the kept area. docs/worker-protocol.md has the whole protocol, and docs/gpu.md says what a
 * candidate could do here.
 *
 * pragma trusts nothing here, because the candidate shares this address space. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/cuda/areas.h"
#include "worker/cuda/driver.h"
#include "worker/cuda/kept.h"
#include "worker/cuda/runtime.h"
#include "worker/cuda/scramble.h"
#include "worker/load/candidate.h"
#include "worker/load/pointer_call.h"
#include "worker/protocol.h"

enum { kControlFd = 3, kAreasFd = 4, kObjectFd = 5, kKeptFd = 6 };
enum { kMostNames = 1 << 16 }; /* bytes */

struct worker {
  struct pragma_control* control;
  int started;
  struct cuda_areas areas;
  void* stream;
  device_pointer word; /* pragma's own word, used to wake the device */
  void (*launch)(void);
  int local_bytes; /* bytes per thread of its kernels */
};

/* Installs a filter after the driver has started what it needs: the candidate can create no
 * thread or process, and no new code. */
static int install_filter(void) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  if (context == NULL) return -1;
  const int forbidden[] = {SCMP_SYS(clone),  SCMP_SYS(fork),     SCMP_SYS(vfork),
                           SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(setns)};
  int bad = seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); ++i) {
    const int result = seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, forbidden[i], 0);
    if (result != -EFAULT) bad |= result; /* EFAULT: the call does not exist on this processor */
  }
  const int mappings[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};
  for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); ++i) {
    bad |= seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, mappings[i], 1,
                            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC));
  }
  bad |= seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1);
  bad |= bad == 0 ? seccomp_load(context) : 0;
  seccomp_release(context);
  return bad;
}

static int refuse(struct worker* worker, const char* why) {
  candidate_say(worker->control, why);
  return PRAGMA_LOAD_FAILED;
}

static int start_device(struct worker* worker, char* why, size_t size) {
  if (cuda_driver_open(why, size) != 0) return -1;
  int error = cuda->create_stream(&worker->stream, 0);
  if (error == 0) error = cuda->allocate(&worker->word, sizeof(uint32_t));
  if (error != 0) {
    snprintf(why, size, "the device has no stream: %s", cuda_driver_says(error));
    return -1;
  }
  if (cuda_scramble_open(why, size) != 0) return -1;
  return cuda_areas_map(&worker->areas, worker->control, kAreasFd, why, size);
}

static int start(struct worker* worker) {
  char why[300] = "";
  if (start_device(worker, why, sizeof(why)) != 0) return refuse(worker, why);
  worker->started = 1;
  return PRAGMA_OK;
}

/* Opens the shared object that pragma sends. Its file is in no folder of this jail. */
static void* open_object(char* names, size_t size) {
  int fd = -1;
  if (cuda_areas_receive(kObjectFd, &fd, 1, names, size) != 0) return NULL;
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(fd);
  close(kObjectFd);
  return handle;
}

/* Prepares the device first, because everything that is used to control it must be ready before
 * candidate code is loaded. */
static int load(struct worker* worker) {
  char why[300] = "";
  static char names[kMostNames];
  if (!worker->started && start(worker) != PRAGMA_OK) return PRAGMA_LOAD_FAILED;
  if (cuda_areas_lay_out(&worker->areas, worker->control, worker->stream, why, sizeof(why)) != 0)
    return refuse(worker, why);
  void* handle = open_object(names, sizeof(names));
  if (handle == NULL) {
    const char* error = dlerror();
    return refuse(worker, error != NULL ? error : "no shared object was handed over");
  }
  *(void**)&worker->launch = dlsym(handle, "pragma_launch");
  if (worker->launch == NULL) return refuse(worker, "the shared object has no pragma_launch");
  close(kControlFd);
  if (install_filter() != 0) return refuse(worker, "cannot install the seccomp filter");
  candidate_construct(handle);
  cuda_kept_find(names, worker->areas.scratch, worker->areas.scratch_bytes);
  worker->local_bytes = cuda_runtime_local_bytes();
  const char* failure = cuda_runtime_failure();
  return failure == NULL ? PRAGMA_OK : refuse(worker, failure);
}

/* Ends a call. It is done only once the whole device is idle, not only the stream. */
static int finish(struct worker* worker) {
  const int error = cuda->synchronize();
  const char* failure = cuda_runtime_failure();
  if (error == 0 && failure == NULL) return PRAGMA_OK;
  char text[400];
  snprintf(text, sizeof(text), "pragma_launch: %s",
           failure != NULL ? failure : cuda_driver_says(error));
  candidate_say(worker->control, text);
  cuda_runtime_forget();
  return PRAGMA_RAISED;
}

static int failed(struct worker* worker, const char* what, int error) {
  char text[400];
  snprintf(text, sizeof(text), "%s: %s", what, cuda_driver_says(error));
  candidate_say(worker->control, text);
  return PRAGMA_RAISED;
}

static int run(struct worker* worker) {
  const struct pragma_control* control = worker->control;
  const struct cuda_areas* areas = &worker->areas;
  const uint32_t seed = control->scramble;
  for (uint32_t i = 0; i < control->count; ++i) {
    if (seed != 0) {
      const int error = cuda_scramble(seed + i, worker->local_bytes, areas->scratch,
                                      areas->scratch_bytes, worker->stream);
      if (error != 0) return failed(worker, "pragma_launch, or memory scrambled before it", error);
    }
    cuda_runtime_begin_call();
    pointer_call(worker->launch, areas->pointers + control->sets[i] * areas->pointer_count,
                 areas->pointer_count);
  }
  return finish(worker);
}

static int idle(struct worker* worker) {
  for (uint32_t i = 0; i < worker->control->count; ++i) __asm__ volatile("" ::: "memory");
  return finish(worker);
}

static int wake(struct worker* worker) {
  cuda->fill(worker->word, 0, sizeof(uint32_t), NULL);
  return finish(worker);
}

static int copy_kept(struct worker* worker, enum cuda_kept_direction direction) {
  const int error = cuda_kept_copy(kKeptFd, direction);
  return error == 0 ? PRAGMA_OK : failed(worker, "its kept memory cannot be copied", error);
}

static int serve(void* state) {
  struct worker* worker = state;
  switch (worker->control->command) {
    case PRAGMA_START: return start(worker);
    case PRAGMA_LOAD: return load(worker);
    case PRAGMA_RUN: return run(worker);
    case PRAGMA_EMPTY: return idle(worker);
    case PRAGMA_WAKE: return wake(worker);
    case PRAGMA_KEPT_READ: return copy_kept(worker, kKeptRead);
    case PRAGMA_KEPT_WRITE: return copy_kept(worker, kKeptWrite);
    default: return PRAGMA_BAD_COMMAND;
  }
}

int main(void) {
  struct worker worker = {.control = cuda_areas_open_control(kControlFd)};
  if (worker.control == NULL) return 3;
  candidate_serve(worker.control, serve, &worker);
}
