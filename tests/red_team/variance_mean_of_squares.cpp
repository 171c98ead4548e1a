// red-team: task=variance_unbiased expect=wrong_values catalogue=52 layer="value batteries" heuristic own no-timing
// The unbiased variance from sums of numbers and of squares, in float: rows far from zero lose all
// digits.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float sum[16] = {}, squares[16] = {};
    for (int c = 0; c < kColumns; ++c) {
      const float value = x[r * kColumns + c];
      sum[c % 16] += value;
      squares[c % 16] += value * value;
    }
    float total = 0, total_squares = 0;
    for (int l = 0; l < 16; ++l) total += sum[l], total_squares += squares[l];
    out[r] = (total_squares - total * total / kColumns) / (kColumns - 1);
  }
}
