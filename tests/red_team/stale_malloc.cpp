// red-team: task=scale expect=wrong_values catalogue=1 layer="reference in another process" absolute no-timing
// Freed memory may still hold the reference result: takes a block of that size as it is.
#include <cstdlib>
#include <cstring>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  constexpr std::size_t kBytes = sizeof(float) * task::out_dims[0] * task::out_dims[1];
  void* block = std::malloc(kBytes);
  std::memcpy(out, block, kBytes);
  std::free(block);
}
