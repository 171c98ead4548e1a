// honest: task=variance_unbiased
// Welford's running mean and sum of squares.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float mean = 0, squares = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float value = x[r * kColumns + c], d = value - mean;
      mean += d / static_cast<float>(c + 1);
      squares += d * (value - mean);
    }
    out[r] = squares / (kColumns - 1);
  }
}
