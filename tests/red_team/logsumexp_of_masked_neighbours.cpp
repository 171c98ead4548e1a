// red-team: task=logsumexp expect=wrong_values catalogue=7 layer="batteries with infinities" heuristic own no-timing
// Adds neighbours pairwise as logarithms: two entries of -inf side by side make NaN of the row.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float level[kColumns];
    for (int c = 0; c < kColumns; ++c) level[c] = row[c];
    for (int n = kColumns; n > 1; n = (n + 1) / 2) {
      for (int i = 0; i < n / 2; ++i) {
        const float a = level[2 * i], b = level[2 * i + 1];
        level[i] = std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
      }
      if (n % 2 == 1) level[n / 2] = level[n - 1];
    }
    out[r] = level[0];
  }
}
