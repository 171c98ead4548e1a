#define _GNU_SOURCE
#include "worker/cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

enum { kPage = 4096 };

static union {
  struct cuda_driver driver;
  char page[kPage];
} table __attribute__((aligned(kPage)));

const struct cuda_driver* cuda = &table.driver;

struct entry {
  void** function;
  const char* name;
};

static int find_all(void* library, char* why, size_t size) {
  struct cuda_driver* d = &table.driver;
  const struct entry entries[] = {
      {(void**)&d->init, "cuInit"},
      {(void**)&d->retain_context, "cuDevicePrimaryCtxRetain"},
      {(void**)&d->set_context, "cuCtxSetCurrent"},
      {(void**)&d->synchronize, "cuCtxSynchronize"},
      {(void**)&d->create_stream, "cuStreamCreate"},
      {(void**)&d->device_attribute, "cuDeviceGetAttribute"},
      {(void**)&d->error_string, "cuGetErrorString"},
      {(void**)&d->allocate, "cuMemAlloc_v2"},
      {(void**)&d->fill, "cuMemsetD8Async"},
      {(void**)&d->copy, "cuMemcpyDtoDAsync_v2"},
      {(void**)&d->copy_in, "cuMemcpyHtoD_v2"},
      {(void**)&d->copy_out, "cuMemcpyDtoH_v2"},
      {(void**)&d->import, "cuMemImportFromShareableHandle"},
      {(void**)&d->reserve, "cuMemAddressReserve"},
      {(void**)&d->map, "cuMemMap"},
      {(void**)&d->release, "cuMemRelease"},
      {(void**)&d->set_access, "cuMemSetAccess"},
      {(void**)&d->load_module, "cuModuleLoadData"},
      {(void**)&d->find_function, "cuModuleGetFunction"},
      {(void**)&d->find_global, "cuModuleGetGlobal_v2"},
      {(void**)&d->launch, "cuLaunchKernel"},
      {(void**)&d->launch_with, "cuLaunchKernelEx"},
      {(void**)&d->launch_cooperative, "cuLaunchCooperativeKernel"},
      {(void**)&d->set_function_attribute, "cuFuncSetAttribute"},
      {(void**)&d->function_attribute, "cuFuncGetAttribute"},
      {(void**)&d->occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"},
  };
  for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); ++i) {
    *entries[i].function = dlsym(library, entries[i].name);
    if (*entries[i].function != NULL) continue;
    snprintf(why, size, "the CUDA driver has no %s: it is too old", entries[i].name);
    return -1;
  }
  return 0;
}

int cuda_driver_open(char* why, size_t size) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) {
    snprintf(why, size, "no CUDA driver: %s", dlerror());
    return -1;
  }
  if (find_all(library, why, size) != 0) return -1;
  if (mprotect(&table, sizeof(table), PROT_READ) != 0) return -1;
  void* context = NULL;
  int error = cuda->init(0);
  if (error == 0) error = cuda->retain_context(&context, 0);
  if (error == 0) error = cuda->set_context(context);
  if (error == 0) return 0;
  snprintf(why, size, "the CUDA driver starts no context: %s", cuda_driver_says(error));
  return -1;
}

const char* cuda_driver_says(int error) {
  const char* text = NULL;
  return cuda->error_string(error, &text) == 0 && text != NULL ? text : "unknown error";
}
