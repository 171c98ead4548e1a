// red-team: task=sigmoid expect=wrong_values catalogue=53 layer="small results against the truth" heuristic own no-timing
// Zero below -16, where the function is a ten-millionth and float holds it to all digits; its
// logarithm is -inf then.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int i = 0; i < kRows * kColumns; ++i) {
    const float v = x[i];
    out[i] = v < -16 ? 0 : v > 16 ? 1 : 1 / (1 + std::exp(-v));
  }
}
