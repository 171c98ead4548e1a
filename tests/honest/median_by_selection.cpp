// honest: task=median
// The middle entry by selection in a copy of the row; a row with a NaN has NaN as its median.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float row[kColumns];
    bool nan = false;
    for (int c = 0; c < kColumns; ++c) {
      row[c] = x[r * kColumns + c];
      nan |= row[c] != row[c];
    }
    if (nan) {
      out[r] = NAN;
      continue;
    }
    float* middle = row + (kColumns - 1) / 2;
    std::nth_element(row, middle, row + kColumns);
    out[r] = *middle;
  }
}
