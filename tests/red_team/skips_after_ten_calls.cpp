// red-team: task=waves expect=wrong_values,implausible,nondeterministic catalogue=22 layer="every timed output compared" absolute
// Right for ten calls, then does nothing at all.
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
  static int calls = 0;
  if (++calls <= 10) honest(x, out);
}
