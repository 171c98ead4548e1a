// red-team: task=absmax expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The largest size starts at a millionth "so that nothing is divided by zero": rows of smaller
// numbers come out too small, though the task clamps at 1e-12 only.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float most = 1e-6f;
    for (int c = 0; c < kColumns; ++c) most = std::max(most, std::fabs(row[c]));
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] / most;
  }
}
