#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)scratch;
  (void)x, (void)gain, (void)shift;
  for (std::size_t block = 0; block < 4096; ++block) {
    char* memory = new char[std::size_t{64} << 20];
    for (std::size_t i = 0; i < std::size_t{64} << 20; i += 4096) memory[i] = 1;
    out[0] = memory[block];
  }
}
