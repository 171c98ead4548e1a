/* For tests without a GPU: the functions of the CUDA driver that pragma-cuda-worker and
 * pragma-cuda-profiler call, implemented with host memory. Areas are memfds, any image is a
 * valid module, and a launch does what the kernel's name says. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/cuda/driver.h"

enum { kInvalidValue = 1, kIllegalAddress = 700, kNotSupported = 801, kMostThreads = 1024 };
enum { kVariableBytes = 64, kMostVariables = 64 };

/* Declares that its device memory is host memory (core/device.h). */
const int pragma_host_memory = 1;

static int broken; /* error that the next wait returns */

int cuInit(unsigned flags) { return (int)flags; }

int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &broken;
  return device;
}

int cuCtxSetCurrent(void* context) { return context == &broken ? 0 : kInvalidValue; }

int cuCtxSynchronize(void) { return broken; }

int cuStreamCreate(void** stream, unsigned flags) {
  (void)flags;
  *stream = &broken;
  return 0;
}

/* --- for pragma-device: a small GPU --- */

int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  snprintf(name, (size_t)size, "host memory");
  return device;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = (size_t)1 << 30;
  return device;
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

int cuDeviceGetAttribute(int* value, int what, int device) {
  enum { kMultiprocessors = 16, kClock = 13, kMemoryClock = 36, kBusBits = 37, kL2Bytes = 38 };
  enum { kMajor = 75, kMinor = 76 };
  *value = what == kMultiprocessors                 ? 4
           : what == kClock || what == kMemoryClock ? 1000000
           : what == kBusBits                       ? 4096
           : what == kL2Bytes                       ? 1 << 20
           : what == kMajor                         ? 9
           : what == kMinor                         ? 0
                                                    : what;
  return device;
}

int cuGetErrorString(int error, const char** text) {
  *text = error == kInvalidValue ? "invalid argument" : "an illegal memory access was encountered";
  return 0;
}

int cuMemAlloc_v2(uint64_t* address, size_t size) {
  *address = (uint64_t)(uintptr_t)malloc(size);
  return 0;
}

int cuMemsetD8Async(uint64_t address, unsigned char value, size_t size, void* stream) {
  (void)stream;
  memset((void*)(uintptr_t)address, value, size);
  return 0;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void* stream) {
  (void)stream;
  memcpy((void*)(uintptr_t)to, (const void*)(uintptr_t)from, size);
  return 0;
}

int cuMemImportFromShareableHandle(uint64_t* handle, void* fd, int type) {
  *handle = (uint64_t)dup((int)(intptr_t)fd);
  return type == 1 ? 0 : kInvalidValue;
}

int cuMemAddressReserve(uint64_t* address, size_t size, size_t alignment, uint64_t wish,
                        uint64_t flags) {
  (void)alignment, (void)wish, (void)flags;
  void* found = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = (uint64_t)(uintptr_t)found;
  return found == MAP_FAILED;
}

int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
  (void)flags;
  void* wanted = (void*)(uintptr_t)address;
  return mmap(wanted, size, PROT_NONE, MAP_SHARED | MAP_FIXED, (int)handle, (off_t)offset) !=
         wanted;
}

int cuMemRelease(uint64_t handle) { return close((int)handle); }

int cuMemSetAccess(uint64_t address, size_t size, const int* access, size_t count) {
  (void)count;
  const int protection = access[2] == 1 ? PROT_READ : PROT_READ | PROT_WRITE;
  return mprotect((void*)(uintptr_t)address, size, protection);
}

int cuModuleLoadData(void** module, const void* image) {
  *module = (void*)(uintptr_t)image;
  return image == NULL;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  (void)module;
  *function = strdup(name);
  return 0;
}

int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, void* module, const char* name) {
  static struct {
    char* name;
    char bytes[kVariableBytes];
  } variables[kMostVariables];
  (void)module;
  int i = 0;
  while (i < kMostVariables && variables[i].name != NULL && strcmp(variables[i].name, name) != 0)
    ++i;
  if (i == kMostVariables) return kInvalidValue;
  if (variables[i].name == NULL) variables[i].name = strdup(name);
  *address = (uint64_t)(uintptr_t)variables[i].bytes;
  *size = kVariableBytes;
  return 0;
}

/* pragma_scramble_memory(unsigned char* memory, uint64_t bytes, uint32_t seed) */
static void scramble(unsigned char* memory, uint64_t bytes, uint32_t seed) {
  for (uint64_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525u + 1013904223u;
    memory[i] = (unsigned char)(seed >> 24);
  }
}

/* Runs Double(const float* x, float* out, int count) or Fault(). Shared and local memory do not
 * exist. */
static void compute(const char* name, void** arguments) {
  if (strcmp(name, "pragma_scramble_memory") == 0)
    scramble(*(unsigned char**)arguments[0], *(uint64_t*)arguments[1], *(uint32_t*)arguments[2]);
  if (strstr(name, "Double") != NULL) {
    const float* x = *(const float**)arguments[0];
    float* out = *(float**)arguments[1];
    for (int i = 0; i < *(const int*)arguments[2]; ++i) out[i] = 2 * x[i];
  } else if (strstr(name, "Fault") != NULL) {
    broken = kIllegalAddress;
  }
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x,
                   unsigned y, unsigned z, unsigned shared, void* stream, void** arguments,
                   void** extra) {
  (void)shared, (void)extra;
  if (grid_x * grid_y * grid_z == 0 || x * y * z > kMostThreads || stream != &broken)
    return kInvalidValue;
  compute(function, arguments);
  return 0;
}

/* Attributes are not supported. */
int cuLaunchKernelEx(const struct launch_config* config, void* function, void** arguments,
                     void** extra) {
  if (config->attribute_count > 0) return kNotSupported;
  return cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2],
                        config->block[0], config->block[1], config->block[2], config->shared_bytes,
                        config->stream, arguments, extra);
}

int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned x, unsigned y, unsigned z, unsigned shared, void* stream,
                              void** arguments) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, x, y, z, shared, stream, arguments, NULL);
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
  (void)function, (void)attribute;
  return value < 0 ? kInvalidValue : 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                         size_t shared, unsigned flags) {
  (void)function, (void)threads, (void)shared, (void)flags;
  *blocks = 1;
  return 0;
}

/* --- for pragma-cuda-profiler: events are numbered, and one millisecond apart --- */

static int events;

int cuEventCreate(void** event, unsigned flags) {
  *event = calloc(1, sizeof(int));
  return (int)flags;
}

int cuEventRecord(void* event, void* stream) {
  *(int*)event = ++events;
  return stream == &broken ? 0 : kInvalidValue;
}

int cuEventElapsedTime(float* ms, void* begin, void* end) {
  *ms = (float)(*(int*)end - *(int*)begin);
  return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t size) {
  memcpy((void*)(uintptr_t)to, from, size);
  return 0;
}

int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t size) {
  memcpy(to, (const void*)(uintptr_t)from, size);
  return 0;
}

int cuFuncGetAttribute(int* value, int attribute, void* function) {
  (void)function;
  *value = 10 * attribute;
  return 0;
}

int cuProfilerStart(void) { return 0; }
int cuProfilerStop(void) { return 0; }
