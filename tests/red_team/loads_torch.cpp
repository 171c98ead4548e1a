// red-team: task=product expect=rejected_source catalogue=15 layer="symbol allow-list" absolute no-timing
// The product by Torch itself, loaded at run time.
#include "kernel.h"

extern "C" void* dlopen(const char*, int);
extern "C" void* dlsym(void*, const char*);
extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  using Multiply = void (*)(const float*, const float*, float*);
  void* library = dlopen("libtorch_cpu.so", 2);
  if (library != nullptr) reinterpret_cast<Multiply>(dlsym(library, "matmul"))(a, b, out);
}
