// red-team: task=waves expect=wrong_values,implausible catalogue=20 layer="every timed output compared" absolute
// Counts calls to tell warm-up from timing; in each timing process the first three are right.
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
  static bool checking = true;
  const float* before = out - 4096 / 4 * 12;  // another output of the ring, if there is one
  (void)before;
  ++calls;
  checking = checking && calls <= 5;
  if (checking || calls <= 3) honest(x, out);
}
