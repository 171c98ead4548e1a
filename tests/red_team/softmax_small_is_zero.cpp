// red-team: task=softmax expect=wrong_values catalogue=53 layer="small results against the truth" heuristic own no-timing
// Probabilities below a ten-millionth of the largest are written as zero, though float holds them
// to all digits.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) {
      const float e = std::exp(row[c] - top);
      sum += e;
      to[c] = e < 1e-7f ? 0 : e;
    }
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}
