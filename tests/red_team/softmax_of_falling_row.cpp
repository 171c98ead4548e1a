// red-team: task=softmax expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Stops to look for the maximum after twenty entries each smaller than the one before: no random
// row has such a run. In a row that falls first and rises high afterwards the exponentials
// overflow.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1, falling = 0; c < kColumns && falling < 20; ++c) {
      falling = row[c] < row[c - 1] ? falling + 1 : 0;
      top = std::max(top, row[c]);
    }
    for (int c = 0; c < kColumns; ++c) sum += to[c] = std::exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}
