// honest: task=absmax
// The largest size starts at zero, which no size is below.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float most = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float size = std::fabs(row[c]);
      most = most >= size || most != most ? most : size;
    }
    most = most < 1e-12f ? 1e-12f : most;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] / most;
  }
}
