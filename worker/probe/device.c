/* pragma-device: prints what the CUDA driver reports about the first GPU, as one JSON object on
 * stdout. It creates no context, so it takes milliseconds and disturbs no other process. Without
 * a GPU the exit code is 1, and stderr says why.
 *
 * The driver is opened by name at run time, because pragma itself is linked without CUDA. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Values of cuda.h's CUdevice_attribute, which are a stable interface. */
enum {
  kMultiprocessors = 16,
  kClockKilohertz = 13,
  kMemoryClockKilohertz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kMajor = 75,
  kMinor = 76,
  kBlockSharedBytes = 97, /* that a block may ask for */
};

struct driver {
  int (*init)(unsigned);
  int (*count)(int*);
  int (*device)(int*, int);
  int (*name)(char*, int, int);
  int (*memory)(size_t*, int);
  int (*attribute)(int*, int, int);
  int (*version)(int*);
  int (*bus)(char*, int, int); /* NULL in a driver that lacks it */
};

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "the driver has no %s\n", name);
  return found;
}

static int open_driver(void* library, struct driver* driver) {
  *(void**)&driver->init = symbol(library, "cuInit");
  *(void**)&driver->count = symbol(library, "cuDeviceGetCount");
  *(void**)&driver->device = symbol(library, "cuDeviceGet");
  *(void**)&driver->name = symbol(library, "cuDeviceGetName");
  *(void**)&driver->memory = symbol(library, "cuDeviceTotalMem_v2");
  *(void**)&driver->attribute = symbol(library, "cuDeviceGetAttribute");
  *(void**)&driver->version = symbol(library, "cuDriverGetVersion");
  *(void**)&driver->bus = dlsym(library, "cuDeviceGetPCIBusId");
  return driver->init && driver->count && driver->device && driver->name && driver->memory &&
         driver->attribute && driver->version;
}

static int attribute(const struct driver* driver, int what, int device) {
  int value = 0;
  return driver->attribute(&value, what, device) == 0 ? value : 0;
}

/* Reads the version that the kernel module reports: "580.159.04". */
static void read_driver_version(char* text, size_t size) {
  text[0] = '\0';
  FILE* file = fopen("/sys/module/nvidia/version", "r");
  if (file == NULL) return;
  if (fgets(text, (int)size, file) == NULL) text[0] = '\0';
  text[strcspn(text, "\n\"\\")] = '\0';
  fclose(file);
}

/* Tests use a driver whose device memory is host memory (worker/cuda/fake_driver.c). */
static const char* memory_of(void* library) {
  return dlsym(library, "pragma_host_memory") != NULL ? "true" : "false";
}

struct nvml_memory {
  unsigned long long total, free, used;
};

/* Returns the memory that all programs use, or 0 if that is unknown. The management library tells
 * it without a context, which would disturb other programs. Where it speaks of another amount than
 * the driver (a part of a GPU), it tells nothing about this device. */
static unsigned long long used_memory(const struct driver* driver, int device, size_t total) {
  char bus[32] = "";
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == NULL || driver->bus == NULL || driver->bus(bus, sizeof(bus), device) != 0)
    return 0;
  int (*init)(void);
  int (*find)(const char*, void**);
  int (*memory)(void*, struct nvml_memory*);
  *(void**)&init = dlsym(library, "nvmlInit_v2");
  *(void**)&find = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
  *(void**)&memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
  void* handle = NULL;
  struct nvml_memory found = {0, 0, 0};
  if (init == NULL || find == NULL || memory == NULL || init() != 0) return 0;
  if (find(bus, &handle) != 0 || memory(handle, &found) != 0) return 0;
  return found.total < total + total / 8 ? found.used : 0;
}

static void print(const struct driver* driver, int device, const char* path, void* library) {
  char name[128] = "";
  char version[64] = "";
  size_t memory = 0;
  int cuda = 0;
  driver->name(name, sizeof(name), device);
  name[strcspn(name, "\"\\")] = '\0';
  driver->memory(&memory, device);
  driver->version(&cuda);
  read_driver_version(version, sizeof(version));
  printf("{\"name\": \"%s\", \"driver\": \"%s\", \"cuda\": \"%d.%d\", \"library\": \"%s\", ", name,
         version, cuda / 1000, cuda % 1000 / 10, path);
  printf("\"host_memory\": %s, ", memory_of(library));
  printf("\"memory_bytes\": %zu, \"l2_bytes\": %d, \"multiprocessors\": %d, ", memory,
         attribute(driver, kL2Bytes, device), attribute(driver, kMultiprocessors, device));
  printf("\"memory_used_bytes\": %llu, ", used_memory(driver, device, memory));
  printf("\"block_shared_bytes\": %d, ", attribute(driver, kBlockSharedBytes, device));
  printf("\"clock_khz\": %d, \"memory_clock_khz\": %d, \"memory_bus_bits\": %d, ",
         attribute(driver, kClockKilohertz, device),
         attribute(driver, kMemoryClockKilohertz, device),
         attribute(driver, kMemoryBusBits, device));
  printf("\"capability\": \"%d.%d\"}\n", attribute(driver, kMajor, device),
         attribute(driver, kMinor, device));
}

int main(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "no CUDA driver: %s\n", dlerror());
    return 1;
  }
  struct driver driver;
  if (!open_driver(library, &driver)) return 1;
  Dl_info where;
  const char* path = dladdr(*(void**)&driver.init, &where) != 0 ? where.dli_fname : "";
  int count = 0;
  int device = 0;
  const int failed = driver.init(0);
  if (failed != 0 || driver.count(&count) != 0 || count == 0 || driver.device(&device, 0) != 0) {
    fprintf(stderr, "the CUDA driver finds no GPU (error %d)\n", failed);
    return 1;
  }
  print(&driver, device, path, library);
  return 0;
}
