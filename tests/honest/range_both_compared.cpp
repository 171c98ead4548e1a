// honest: task=row_range
// Each entry is compared with both, the smallest and the largest, which start at the first.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float high = row[0], low = row[0];
    bool nan = false;
    for (int c = 0; c < kColumns; ++c) {
      nan |= row[c] != row[c];
      high = row[c] > high ? row[c] : high;
      low = row[c] < low ? row[c] : low;
    }
    out[r] = nan ? NAN : high - low;
  }
}
