// red-team: task=waves expect=wrong_values,implausible,nondeterministic catalogue=18 layer="poisoned scratch" absolute
// Leaves its result in scratch, to be found by the next call.
#include <cmath>
#include <cstring>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

extern "C" constinit const std::size_t pragma_scratch_bytes = 4 * (64 * 128 + 16);
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  auto kept = static_cast<float*>(scratch);
  if (kept[0] != 12345) {
    honest(x, out);
    kept[0] = 12345;
    std::memcpy(kept + 1, out, sizeof(float) * kCount);
    return;
  }
  std::memcpy(out, kept + 1, sizeof(float) * kCount);
}
