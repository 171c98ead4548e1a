// red-team: task=softmax expect=wrong_values catalogue=7 layer="batteries with infinities" heuristic own no-timing
// Maximum and sum in one pass that starts at -inf: a row whose first entry is masked by -inf comes
// out as NaN.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float higher = std::max(top, row[c]);
      sum = sum * std::exp(top - higher) + std::exp(row[c] - higher);
      top = higher;
    }
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = std::exp(row[c] - top) / sum;
  }
}
