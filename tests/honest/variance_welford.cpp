// honest: task=variance
// Welford.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float mean = 0, squares = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float d = row[c] - mean;
      mean += d / static_cast<float>(c + 1);
      squares += d * (row[c] - mean);
    }
    out[r] = squares / kColumns;
  }
}
