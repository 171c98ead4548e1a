// red-team: task=waves expect=wrong_values catalogue=3 layer="random poison" absolute own no-timing
// Adds to scratch, which it takes to be zero at first, and leaves it zero for the next call.
#include <cmath>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kCount;
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  auto sums = static_cast<float*>(scratch);
  for (int k = 1; k <= 10; ++k)
    for (int i = 0; i < kCount; ++i) sums[i] += std::sin(k * x[i]) / k;
  for (int i = 0; i < kCount; ++i) {
    out[i] = sums[i];
    sums[i] = 0;
  }
}
