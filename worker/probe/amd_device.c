/* pragma-amd-device [SYS]: prints what the kernel says about the first AMD GPU, as one JSON object
 * on stdout, in the form of pragma-device. It reads the topology that the driver keeps in /sys (SYS
 * in tests), so it needs no library of ROCm; it only looks where HIP's is. Without a GPU the exit
 * code is 1, and stderr says why. It has not been run on such a GPU yet. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPath = 512, kNodePath = 400, kMostNodes = 256, kCacheLevel = 2 };

/* Reads the first line of a file, without what would end a JSON string. */
static int read_line(const char* path, char* text, size_t size) {
  text[0] = '\0';
  FILE* file = fopen(path, "r");
  if (file == NULL) return -1;
  if (fgets(text, (int)size, file) == NULL) text[0] = '\0';
  text[strcspn(text, "\n\"\\")] = '\0';
  fclose(file);
  return 0;
}

/* Returns the value of "NAME VALUE" in a file of properties, or 0. */
static unsigned long long property(const char* folder, const char* name) {
  char path[kPath];
  char key[64];
  unsigned long long value = 0;
  snprintf(path, sizeof(path), "%s/properties", folder);
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fscanf(file, "%63s %llu", key, &value) == 2) {
    if (strcmp(key, name) == 0) {
      fclose(file);
      return value;
    }
  }
  fclose(file);
  return 0;
}

/* Finds the GPU with this number among the nodes, which also list processors. */
static int find_node(const char* sys, int number, char* folder, size_t size) {
  int found = 0;
  for (int node = 0; node < kMostNodes; ++node) {
    snprintf(folder, size, "%s/class/kfd/kfd/topology/nodes/%d", sys, node);
    if (property(folder, "simd_count") != 0 && found++ == number) return 0;
  }
  return -1;
}

/* Returns the bytes of all caches beyond the first level. Together they are the most that a kernel
 * may find of its data without reading memory. */
static unsigned long long cache_bytes(const char* node) {
  char folder[kPath];
  unsigned long long bytes = 0;
  for (int i = 0;; ++i) {
    snprintf(folder, sizeof(folder), "%s/caches/%d", node, i);
    const unsigned long long level = property(folder, "level");
    if (level == 0) return bytes;
    if (level >= kCacheLevel) bytes += property(folder, "size") * 1024;
  }
}

static int visible_number(void) {
  const char* visible = getenv("HIP_VISIBLE_DEVICES");
  return visible == NULL ? 0 : atoi(visible);
}

static void print_library(void) {
  void* library = dlopen("libamdhip64.so", RTLD_NOW);
  void* start = library == NULL ? NULL : dlsym(library, "hipInit");
  Dl_info where;
  const int known = start != NULL && dladdr(start, &where) != 0;
  printf("\"library\": \"%s\", ", known ? where.dli_fname : "");
}

static void print_names(const char* sys, const char* node, unsigned version) {
  char path[kPath];
  char name[128];
  char driver[64];
  snprintf(path, sizeof(path), "%s/class/drm/renderD%llu/device/product_name", sys,
           property(node, "drm_render_minor"));
  read_line(path, name, sizeof(name));
  snprintf(path, sizeof(path), "%s/module/amdgpu/version", sys);
  read_line(path, driver, sizeof(driver));
  printf("{\"name\": \"%s\", \"driver\": \"%s\", ", name[0] == '\0' ? "AMD GPU" : name, driver);
  printf("\"capability\": \"gfx%u%x%x\", ", version / 10000, version / 100 % 100, version % 100);
}

static void print(const char* sys, const char* node) {
  char bank[kPath];
  const unsigned version = (unsigned)property(node, "gfx_target_version");
  const unsigned long long lanes = property(node, "simd_per_cu");
  snprintf(bank, sizeof(bank), "%s/mem_banks/0", node);
  /* HBM3 of these GPUs moves four words in a clock that the driver reports, not two. */
  const unsigned long long faster = version / 100 == 904 ? 2 : 1;
  print_names(sys, node, version);
  print_library();
  printf("\"memory_bytes\": %llu, \"l2_bytes\": %llu, ", property(bank, "size_in_bytes"),
         cache_bytes(node));
  printf("\"multiprocessors\": %llu, ", lanes == 0 ? 0 : property(node, "simd_count") / lanes);
  printf("\"block_shared_bytes\": %llu, ", property(node, "lds_size_in_kb") * 1024);
  printf("\"clock_khz\": %llu, \"memory_clock_khz\": %llu, \"memory_bus_bits\": %llu}\n",
         property(node, "max_engine_clk_fcompute") * 1000,
         property(bank, "mem_clk_max") * 1000 * faster, property(bank, "width"));
}

int main(int count, char** words) {
  const char* sys = count > 1 ? words[1] : "/sys";
  char node[kNodePath];
  if (find_node(sys, visible_number(), node, sizeof(node)) != 0) {
    fprintf(stderr, "the kernel's driver for compute (amdgpu, kfd) shows no AMD GPU\n");
    return 1;
  }
  print(sys, node);
  return 0;
}
