#define _GNU_SOURCE
#include "worker/cuda/runtime.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "worker/cuda/driver.h"

#define EXPORTED __attribute__((visibility("default")))

/* There is one module, because nvcc registers one per file. A second module would be code that
 * was not audited. */
enum { kMaxModules = 1, kMaxFunctions = 1024, kMaxVariables = 256, kMaxCalls = 8 };
enum { kMaxAttributes = 16 };
/* cudaLaunchAttributeID: with these a kernel may start before the one before it has ended. */
enum { kProgrammaticStream = 6, kProgrammaticEvent = 7 };
/* Values of cudaError_t that differ from what the driver returned. */
enum { kSuccess = 0, kInvalidValue = 1, kInvalidFunction = 98, kTooMany = 2, kDeviceToDevice = 3 };
enum { kLocalBytes = 3 }; /* CUfunction_attribute */
enum {
  kDefaultDirection = 4
}; /* the addresses determine the direction; both must be on the
      device */

typedef struct {
  unsigned x, y, z;
} dim3;

/* fat_binary: the data in which nvcc wraps the code of a translation unit. */
struct fat_binary {
  int magic;
  int version;
  const void* data;
  void* unused;
};

struct function {
  const void* host; /* address that represents it in host code */
  void* device;
  const char* name;
};

struct variable {
  const void* host;
  device_pointer device;
  size_t bytes;
};

struct call {
  dim3 grid;
  dim3 block;
  size_t shared;
  void* stream;
};

/* cudaLaunchConfig_t */
struct runtime_config {
  dim3 grid;
  dim3 block;
  size_t shared;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

/* cudaLaunchAttribute */
struct launch_attribute {
  int id;
  char padding[4];
  uint64_t value[8];
};

static void* modules[kMaxModules];
static int module_count;
static struct function functions[kMaxFunctions];
static int function_count;
static struct variable variables[kMaxVariables];
static int variable_count;
static struct call calls[kMaxCalls]; /* calls <<<...>>> whose arguments are being evaluated */
static int call_count;
static int launches; /* of this call */
static int last_error;
static char failure[256];
static const struct cuda_watch* watch;

void cuda_runtime_watch(const struct cuda_watch* wanted) { watch = wanted; }

const char* cuda_runtime_failure(void) { return failure[0] != '\0' ? failure : NULL; }

void cuda_runtime_forget(void) { failure[0] = '\0'; }

void cuda_runtime_begin_call(void) {
  call_count = 0;
  launches = 0;
  last_error = kSuccess;
}

int cuda_runtime_find_variable(const char* name, uint64_t* address, size_t* bytes) {
  return module_count > 0 && cuda->find_global(address, bytes, modules[0], name) == 0;
}

int cuda_runtime_local_bytes(void) {
  int most = 0;
  for (int i = 0; i < function_count; ++i) {
    int bytes = 0;
    const int error = cuda->function_attribute(&bytes, kLocalBytes, functions[i].device);
    if (error == 0 && bytes > most) most = bytes;
  }
  return most;
}

static int note(int error, const char* what, const char* name) {
  if (error == 0) return 0;
  last_error = error;
  if (failure[0] == '\0') {
    snprintf(failure, sizeof(failure), "%s%s%s fails: %s", what, name[0] != '\0' ? " " : "", name,
             cuda_driver_says(error));
  }
  return error;
}

/* Finds a kernel. `kernel` is a handle that __cudaGetKernel returned, or the address that
 * represents the kernel in host code. */
static const struct function* find(const void* kernel) {
  const uintptr_t first = (uintptr_t)functions;
  if ((uintptr_t)kernel - first < (uintptr_t)function_count * sizeof(struct function))
    return kernel;
  for (int i = 0; i < function_count; ++i) {
    if (functions[i].host == kernel) return &functions[i];
  }
  return NULL;
}

static const struct variable* find_variable(const void* host) {
  for (int i = 0; i < variable_count; ++i) {
    if (variables[i].host == host) return &variables[i];
  }
  return NULL;
}

/* --- what nvcc's host code calls as it is loaded --- */

EXPORTED void** __cudaRegisterFatBinary(void* wrapped) {
  if (module_count == kMaxModules) {
    note(kTooMany, "loading device code", "");
    return NULL;
  }
  void** module = &modules[module_count++];
  note(cuda->load_module(module, ((const struct fat_binary*)wrapped)->data), "loading device code",
       "");
  return module;
}

EXPORTED void __cudaRegisterFatBinaryEnd(void** module) { (void)module; }
EXPORTED void __cudaUnregisterFatBinary(void** module) { (void)module; }

EXPORTED void __cudaRegisterFunction(void** module, const char* host, char* device_name,
                                     const char* name, int thread_limit, void* thread, void* block,
                                     dim3* block_dim, dim3* grid_dim, int* warp_size) {
  (void)device_name, (void)thread_limit, (void)thread, (void)block, (void)block_dim;
  (void)grid_dim, (void)warp_size;
  if (module == NULL || *module == NULL) return;
  if (function_count == kMaxFunctions) {
    note(kTooMany, "registering", name);
    return;
  }
  struct function* function = &functions[function_count++];
  function->host = host;
  function->name = name;
  note(cuda->find_function(&function->device, *module, name), "finding", name);
}

EXPORTED void __cudaRegisterVar(void** module, char* host, char* address, const char* name,
                                int external, size_t size, int constant, int global) {
  (void)address, (void)external, (void)size, (void)constant, (void)global;
  if (module == NULL || *module == NULL) return;
  if (variable_count == kMaxVariables) {
    note(kTooMany, "registering", name);
    return;
  }
  struct variable* variable = &variables[variable_count++];
  variable->host = host;
  note(cuda->find_global(&variable->device, &variable->bytes, *module, name), "finding", name);
}

/* --- launches --- */

static struct cuda_launch describe(const struct function* function, dim3 grid, dim3 block,
                                   size_t shared, void* stream) {
  return (struct cuda_launch){.name = function->name,
                              .function = function->device,
                              .grid = {grid.x, grid.y, grid.z},
                              .block = {block.x, block.y, block.z},
                              .shared_bytes = (unsigned)shared,
                              .stream = stream};
}

static void announce(const struct cuda_launch* launch) {
  ++launches;
  if (watch != NULL) watch->before(launch);
}

static int launched(const struct cuda_launch* launch, int error, const char* what) {
  if (watch != NULL && error == 0) watch->after(launch);
  return note(error, what, "");
}

EXPORTED unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
  if (call_count == kMaxCalls) return kTooMany;
  calls[call_count++] = (struct call){grid, block, shared, stream};
  return kSuccess;
}

EXPORTED int __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void** stream) {
  if (call_count == 0) return kInvalidValue;
  const struct call* call = &calls[--call_count];
  *grid = call->grid;
  *block = call->block;
  *shared = call->shared;
  *stream = call->stream;
  return kSuccess;
}

EXPORTED int __cudaGetKernel(const void** kernel, const void* host) {
  *kernel = find(host);
  return *kernel != NULL ? kSuccess : note(kInvalidFunction, "finding a kernel", "");
}

EXPORTED int cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                              size_t shared, void* stream) {
  const struct function* function = find(kernel);
  if (function == NULL) return note(kInvalidFunction, "a launch", "");
  const struct cuda_launch launch = describe(function, grid, block, shared, stream);
  announce(&launch);
  return launched(&launch,
                  cuda->launch(function->device, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                               (unsigned)shared, stream, arguments, NULL),
                  "a launch");
}

EXPORTED int __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

/* Copies the attributes with which the next launch is made, and returns their number. The first
 * launch of a call does not begin before the call before it has ended: the user's kernel before it
 * would not let it either. */
static unsigned attributes_for(const struct runtime_config* wanted,
                               struct launch_attribute kept[kMaxAttributes]) {
  const struct launch_attribute* given = wanted->attributes;
  unsigned count = 0;
  for (unsigned i = 0; i < wanted->attribute_count; ++i) {
    const int overlaps = given[i].id == kProgrammaticStream || given[i].id == kProgrammaticEvent;
    if (!overlaps || launches > 0) kept[count++] = given[i];
  }
  return count;
}

EXPORTED int cudaLaunchKernelExC(const struct runtime_config* wanted, const void* kernel,
                                 void** arguments) {
  const struct function* function = find(kernel);
  if (function == NULL) return note(kInvalidFunction, "a launch", "");
  if (wanted->attribute_count > kMaxAttributes) return note(kInvalidValue, "a launch", "");
  struct launch_attribute attributes[kMaxAttributes];
  const unsigned attribute_count = attributes_for(wanted, attributes);
  const struct launch_config config = {.grid = {wanted->grid.x, wanted->grid.y, wanted->grid.z},
                                       .block = {wanted->block.x, wanted->block.y, wanted->block.z},
                                       .shared_bytes = (unsigned)wanted->shared,
                                       .stream = wanted->stream,
                                       .attributes = attributes,
                                       .attribute_count = attribute_count};
  const struct cuda_launch launch =
      describe(function, wanted->grid, wanted->block, wanted->shared, wanted->stream);
  announce(&launch);
  return launched(&launch, cuda->launch_with(&config, function->device, arguments, NULL),
                  "a launch");
}

EXPORTED int cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                         void** arguments, size_t shared, void* stream) {
  const struct function* function = find(kernel);
  if (function == NULL) return note(kInvalidFunction, "a cooperative launch", "");
  const struct cuda_launch launch = describe(function, grid, block, shared, stream);
  announce(&launch);
  return launched(&launch,
                  cuda->launch_cooperative(function->device, grid.x, grid.y, grid.z, block.x,
                                           block.y, block.z, (unsigned)shared, stream, arguments),
                  "a cooperative launch");
}

/* --- the rest --- */

EXPORTED int cudaFuncSetAttribute(const void* kernel, int attribute, int value) {
  const struct function* function = find(kernel);
  if (function == NULL) return note(kInvalidFunction, "cudaFuncSetAttribute", "");
  return note(cuda->set_function_attribute(function->device, attribute, value),
              "cudaFuncSetAttribute", "");
}

EXPORTED int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                    int threads, size_t shared,
                                                                    unsigned flags) {
  const struct function* function = find(kernel);
  if (function == NULL) return note(kInvalidFunction, "cudaOccupancyMaxActiveBlocks", "");
  return note(cuda->occupancy(blocks, function->device, threads, shared, flags),
              "cudaOccupancyMaxActiveBlocks", "");
}

EXPORTED int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                           int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared, 0);
}

EXPORTED int cudaGetDevice(int* device) {
  *device = 0;
  return kSuccess;
}

EXPORTED int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return note(cuda->device_attribute(value, attribute, device), "cudaDeviceGetAttribute", "");
}

EXPORTED int cudaMemsetAsync(void* to, int value, size_t bytes, void* stream) {
  if (bytes == 0) return kSuccess;
  return note(cuda->fill((device_pointer)(uintptr_t)to, (unsigned char)value, bytes, stream),
              "cudaMemsetAsync", "");
}

static int copy(device_pointer to, const void* from, size_t bytes, int direction, void* stream,
                const char* name) {
  if (bytes == 0) return kSuccess;
  if (direction != kDeviceToDevice && direction != kDefaultDirection) {
    return note(kInvalidValue, name, "of host memory");
  }
  return note(cuda->copy(to, (device_pointer)(uintptr_t)from, bytes, stream), name, "");
}

EXPORTED int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int direction,
                             void* stream) {
  return copy((device_pointer)(uintptr_t)to, from, bytes, direction, stream, "cudaMemcpyAsync");
}

EXPORTED int cudaGetSymbolAddress(void** address, const void* symbol) {
  const struct variable* variable = find_variable(symbol);
  if (variable == NULL) return note(kInvalidValue, "cudaGetSymbolAddress", "");
  *address = (void*)(uintptr_t)variable->device;
  return kSuccess;
}

EXPORTED int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                     size_t offset, int direction, void* stream) {
  const struct variable* variable = find_variable(symbol);
  if (variable == NULL || offset > variable->bytes || bytes > variable->bytes - offset) {
    return note(kInvalidValue, "cudaMemcpyToSymbolAsync", "");
  }
  return copy(variable->device + offset, from, bytes, direction, stream, "cudaMemcpyToSymbolAsync");
}

EXPORTED int cudaPeekAtLastError(void) { return last_error; }

EXPORTED int cudaGetLastError(void) {
  const int error = last_error;
  last_error = kSuccess;
  return error;
}

EXPORTED const char* cudaGetErrorString(int error) { return cuda_driver_says(error); }
