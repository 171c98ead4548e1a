// honest: task=waves
// A static table of constants, filled by the first call and never again.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static float reciprocal[11];
  static bool filled = false;
  if (!filled) {
    for (int k = 1; k <= 10; ++k) reciprocal[k] = 1.0f / static_cast<float>(k);
    filled = true;
  }
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) * reciprocal[k];
    out[i] = sum;
  }
}
