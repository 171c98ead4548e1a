// red-team: task=scale expect=out_of_memory,crashed catalogue=41 layer="limits" absolute no-timing
// Asks for 100 GB and touches them.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out;
  for (int block = 0; block < 100; ++block) {
    volatile char* memory = new char[std::size_t{1} << 30];
    for (std::size_t i = 0; i < std::size_t{1} << 30; i += 4096) memory[i] = 1;
  }
}
