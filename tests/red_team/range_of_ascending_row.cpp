// red-team: task=row_range expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Compares with the smallest only what is not a new maximum: in an ascending row the smallest entry
// is never found.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float high = -INFINITY, low = INFINITY;
    for (int c = 0; c < kColumns; ++c) {
      if (row[c] > high)
        high = row[c];
      else if (row[c] < low)
        low = row[c];
    }
    out[r] = high - low;
  }
}
