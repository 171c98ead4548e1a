#include "worker/cuda/scramble.h"

#include <stdio.h>

#include "worker/cuda/driver.h"

/* The text of PRAGMA_SCRAMBLE_PTX, followed by a zero byte. */
__asm__(
    ".pushsection .rodata\n"
    "scramble_ptx: .incbin \"" PRAGMA_SCRAMBLE_PTX
    "\"\n"
    ".byte 0\n"
    ".popsection\n");
extern const char scramble_ptx[] __attribute__((visibility("hidden")));

/* Values of CUdevice_attribute and CUfunction_attribute. */
enum { kMultiprocessors = 16, kCooperative = 95, kMostShared = 97 };
enum { kDynamicShared = 8, kCarveout = 9, kAllShared = 100 };
/* Numbers that the kernels are written for. */
enum { kChipThreads = 512, kThreads = 256, kBlockBytes = 4096, kMostBlocks = 4096, kLocals = 5 };

static const int local_sizes[kLocals] = {256, 1024, 4096, 16384, 65536};

static struct {
  void* chip;
  void* memory;
  void* locals[kLocals];
  int multiprocessors;
  int shared_bytes;
  uint32_t launched; /* number of blocks launched so far that wait for each other */
} scrambler;

static int find_locals(void* module) {
  int error = 0;
  for (int i = 0; i < kLocals && error == 0; ++i) {
    char name[64];
    snprintf(name, sizeof(name), "pragma_scramble_local_%d", local_sizes[i]);
    error = cuda->find_function(&scrambler.locals[i], module, name);
  }
  return error;
}

int cuda_scramble_open(char* why, size_t size) {
  void* module = NULL;
  int cooperative = 0;
  int error = cuda->load_module(&module, scramble_ptx);
  if (error == 0) error = cuda->find_function(&scrambler.chip, module, "pragma_scramble_chip");
  if (error == 0) error = cuda->find_function(&scrambler.memory, module, "pragma_scramble_memory");
  if (error == 0) error = find_locals(module);
  if (error == 0) error = cuda->device_attribute(&scrambler.multiprocessors, kMultiprocessors, 0);
  if (error == 0) error = cuda->device_attribute(&scrambler.shared_bytes, kMostShared, 0);
  if (error == 0) error = cuda->device_attribute(&cooperative, kCooperative, 0);
  if (error == 0)
    error = cuda->set_function_attribute(scrambler.chip, kDynamicShared, scrambler.shared_bytes);
  if (error == 0) error = cuda->set_function_attribute(scrambler.chip, kCarveout, kAllShared);
  if (error == 0 && cooperative != 0) return 0;
  snprintf(why, size, "the driver does not take the kernels that scramble memory: %s",
           error != 0 ? cuda_driver_says(error) : "no cooperative launches on this device");
  return -1;
}

/* Launches as many blocks as fit at once. Their kernel waits until all of them have started. */
static int fill_device(void* kernel, int threads, int shared_bytes, uint32_t seed, void* stream) {
  int each = 0;
  int error = cuda->occupancy(&each, kernel, threads, (size_t)shared_bytes, 0);
  if (error != 0) return error;
  const unsigned blocks = (unsigned)(each * scrambler.multiprocessors);
  uint32_t target = scrambler.launched + blocks;
  uint32_t words = (uint32_t)shared_bytes / sizeof(uint32_t);
  void* arguments[] = {&seed, &target, &words};
  error = cuda->launch_cooperative(kernel, blocks, 1, 1, (unsigned)threads, 1, 1,
                                   (unsigned)shared_bytes, stream, arguments);
  if (error == 0) scrambler.launched = target;
  return error;
}

static int fill_memory(device_pointer memory, uint64_t bytes, uint32_t seed, void* stream) {
  uint64_t blocks = (bytes + kBlockBytes - 1) / kBlockBytes;
  if (blocks > kMostBlocks) blocks = kMostBlocks;
  void* arguments[] = {&memory, &bytes, &seed};
  return cuda->launch(scrambler.memory, (unsigned)blocks, 1, 1, kThreads, 1, 1, 0, stream,
                      arguments, NULL);
}

int cuda_scramble(uint32_t seed, int local_bytes, uint64_t memory, size_t bytes, void* stream) {
  int local = 0;
  while (local + 1 < kLocals && local_sizes[local] < local_bytes) ++local;
  int error = cuda->synchronize(); /* a candidate may have used other streams than this one */
  if (error == 0 && local_bytes > 0)
    error = fill_device(scrambler.locals[local], kThreads, 0, seed, stream);
  if (error == 0 && bytes > 0) error = fill_memory(memory, bytes, seed, stream);
  if (error == 0)
    error = fill_device(scrambler.chip, kChipThreads, scrambler.shared_bytes, seed, stream);
  return error == 0 ? cuda->synchronize() : error;
}
