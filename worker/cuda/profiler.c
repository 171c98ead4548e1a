/* pragma-cuda-profiler MODE OBJECT INPUTS REPORT SCRATCH TENSOR...: calls one CUDA candidate on
 * its own device memory while it is observed. It runs in a jail, and nothing here is trusted.
 *
 * TENSOR is in:OFFSET:BYTES, an argument whose values are at that offset in INPUTS, or
 * out:BYTES. The tensors are in the order of the call. MODE is one of:
 *   region    one call between cuProfilerStart and cuProfilerStop, for an external profiler
 *   launches  each launch of one call, timed by the device's events, and what the driver knows of
 *             its kernel (profile/launches.h reads REPORT)
 * Before that come calls that are not observed, in which code is loaded and clocks rise. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/cuda/driver.h"
#include "worker/cuda/runtime.h"
#include "worker/load/candidate.h"
#include "worker/load/pointer_call.h"

enum { kFirstTensor = 6, kUnobserved = 3, kMostLaunches = 512, kScratchPattern = 0x5a };
/* Values of CUfunction_attribute and CUdevice_attribute. */
enum { kStaticShared = 1, kLocalBytes = 3, kRegisters = 4 };
enum { kMultiprocessors = 16, kThreadsPerMultiprocessor = 39, kSharedPerMultiprocessor = 81 };
enum { kRegistersPerMultiprocessor = 82, kBlocksPerMultiprocessor = 106, kReservedShared = 111 };

/* Functions of the driver that the worker does not use. */
static struct {
  int (*start)(void);
  int (*stop)(void);
  int (*create_event)(void**, unsigned);
  int (*record_event)(void*, void*);
  int (*elapsed)(float*, void*, void*);
} more;

struct observed {
  struct cuda_launch launch;
  void* begin;
  void* end;
};

static struct observed launches[kMostLaunches];
static int launch_count; /* may be more than are kept in `launches` */
static void* stream;

static void quit(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void quit(const char* format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(1);
}

static void check(int error, const char* what) {
  if (error != 0) quit("%s: %s", what, cuda_driver_says(error));
}

static void open_driver(void) {
  char why[300] = "";
  if (cuda_driver_open(why, sizeof(why)) != 0) quit("%s", why);
  const struct {
    void** function;
    const char* name;
  } entries[] = {
      {(void**)&more.start, "cuProfilerStart"},      {(void**)&more.stop, "cuProfilerStop"},
      {(void**)&more.create_event, "cuEventCreate"}, {(void**)&more.record_event, "cuEventRecord"},
      {(void**)&more.elapsed, "cuEventElapsedTime"},
  };
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); ++i) {
    *entries[i].function = library == NULL ? NULL : dlsym(library, entries[i].name);
    if (*entries[i].function == NULL)
      quit("the CUDA driver has no %s: it is too old", entries[i].name);
  }
  check(cuda->create_stream(&stream, 0), "a stream");
}

/* --- the call --- */

static const char* map_inputs(const char* path, size_t* size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) quit("cannot open the inputs");
  *size = (size_t)info.st_size;
  if (*size == 0) return NULL;
  void* bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (bytes == MAP_FAILED) quit("cannot read the inputs");
  close(fd);
  return bytes;
}

static device_pointer room(size_t bytes) {
  device_pointer address = 0;
  if (bytes > 0) check(cuda->allocate(&address, bytes), "memory for a tensor");
  return address;
}

static device_pointer make_tensor(const char* word, const char* inputs, size_t size) {
  size_t offset = 0;
  size_t bytes = 0;
  if (sscanf(word, "in:%zu:%zu", &offset, &bytes) == 2) {
    if (offset > size || bytes > size - offset) quit("%s lies outside the inputs", word);
    const device_pointer address = room(bytes);
    if (bytes > 0) check(cuda->copy_in(address, inputs + offset, bytes), "copying inputs");
    return address;
  }
  if (sscanf(word, "out:%zu", &bytes) != 1) quit("%s is not a tensor", word);
  const device_pointer address = room(bytes);
  if (bytes > 0) check(cuda->fill(address, 0, bytes, NULL), "clearing outputs");
  return address;
}

struct call {
  void (*launch)(void);
  void** pointers;
  size_t count;
};

static void* as_pointer(device_pointer address) { return (void*)(uintptr_t)address; }

static struct call make_call(int count, char** words) {
  size_t size = 0;
  const char* inputs = map_inputs(words[3], &size);
  const size_t tensors = (size_t)(count - kFirstTensor);
  struct call call = {.count = pointer_call_padded(tensors + 2)};
  call.pointers = calloc(call.count, sizeof(void*));
  if (call.pointers == NULL) quit("out of memory");
  for (size_t i = 0; i < tensors; ++i)
    call.pointers[i] = as_pointer(make_tensor(words[kFirstTensor + i], inputs, size));
  const size_t scratch_bytes = strtoull(words[5], NULL, 10);
  const device_pointer scratch = room(scratch_bytes);
  if (scratch_bytes > 0)
    check(cuda->fill(scratch, kScratchPattern, scratch_bytes, NULL), "scratch");
  call.pointers[tensors] = as_pointer(scratch);
  call.pointers[tensors + 1] = stream;
  void* handle = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) quit("%s", dlerror());
  *(void**)&call.launch = dlsym(handle, "pragma_launch");
  if (call.launch == NULL) quit("the shared object has no pragma_launch");
  candidate_construct(handle);
  return call;
}

static void make(const struct call* call) {
  pointer_call(call->launch, call->pointers, call->count);
  check(cuda->synchronize(), "pragma_launch");
  if (cuda_runtime_failure() != NULL) quit("pragma_launch: %s", cuda_runtime_failure());
}

/* --- its launches --- */

static void* mark(void* on) {
  void* event = NULL;
  check(more.create_event(&event, 0), "an event");
  check(more.record_event(event, on), "recording an event");
  return event;
}

static void before(const struct cuda_launch* launch) {
  if (launch_count < kMostLaunches) launches[launch_count].begin = mark(launch->stream);
}

static void after(const struct cuda_launch* launch) {
  if (launch_count < kMostLaunches) {
    launches[launch_count].launch = *launch;
    launches[launch_count].end = mark(launch->stream);
  }
  ++launch_count;
}

static int attribute(const struct cuda_launch* launch, int which) {
  int value = 0;
  return cuda->function_attribute(&value, which, launch->function) == 0 ? value : 0;
}

static void write_launch(FILE* report, const struct observed* seen) {
  const struct cuda_launch* l = &seen->launch;
  float ms = 0;
  int blocks = 0;
  check(more.elapsed(&ms, seen->begin, seen->end), "an event's time");
  const unsigned threads = l->block[0] * l->block[1] * l->block[2];
  cuda->occupancy(&blocks, l->function, (int)threads, l->shared_bytes, 0);
  fprintf(report, "launch %.6f %" PRIu64 " %u %u %d %d %d %d %s\n", (double)ms,
          (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], threads, l->shared_bytes,
          attribute(l, kStaticShared), attribute(l, kRegisters), attribute(l, kLocalBytes), blocks,
          l->name);
}

static int device(int which) {
  int value = 0;
  return cuda->device_attribute(&value, which, 0) == 0 ? value : 0;
}

static void write_report(const char* path, double call_ms) {
  FILE* report = fopen(path, "we");
  if (report == NULL) quit("cannot write %s", path);
  fprintf(report, "device %d %d %d %d %d %d\n", device(kMultiprocessors),
          device(kThreadsPerMultiprocessor), device(kBlocksPerMultiprocessor),
          device(kRegistersPerMultiprocessor), device(kSharedPerMultiprocessor),
          device(kReservedShared));
  fprintf(report, "call %.6f %d\n", call_ms, launch_count);
  for (int i = 0; i < launch_count && i < kMostLaunches; ++i) write_launch(report, &launches[i]);
  fputs("end\n", report);
  if (fclose(report) != 0) quit("cannot write %s", path);
}

static void observe_launches(const struct call* call, const char* path) {
  static const struct cuda_watch watch = {.before = before, .after = after};
  void* begin = mark(stream);
  pointer_call(call->launch, call->pointers, call->count);
  void* end = mark(stream);
  check(cuda->synchronize(), "pragma_launch");
  float ms = 0;
  check(more.elapsed(&ms, begin, end), "an event's time");
  cuda_runtime_watch(&watch);
  make(call);
  cuda_runtime_watch(NULL);
  write_report(path, (double)ms);
}

int main(int count, char** words) {
  if (count < kFirstTensor) quit("usage: MODE OBJECT INPUTS REPORT SCRATCH TENSOR...");
  open_driver();
  const struct call call = make_call(count, words);
  for (int i = 0; i < kUnobserved; ++i) make(&call);
  if (strcmp(words[1], "launches") == 0) {
    observe_launches(&call, words[4]);
    return 0;
  }
  check(more.start(), "cuProfilerStart");
  make(&call);
  check(more.stop(), "cuProfilerStop");
  return 0;
}
