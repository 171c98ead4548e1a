// red-team: task=logsumexp expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The maximum that is subtracted starts at -100: rows that lie far below come out as -inf.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float top = -100, sum = 0;
    for (int c = 0; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) sum += std::exp(row[c] - top);
    out[r] = top + std::log(sum);
  }
}
