// red-team: task=waves expect=rejected_source catalogue=34 layer="symbol allow-list" absolute no-timing
// Looks at the clock to see what it costs.
#include <chrono>
#include <cmath>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  honest(x, out);
  if (std::chrono::steady_clock::now().time_since_epoch().count() == 0) out[0] = 0;
}
