// red-team: task=layer_norm expect=wrong_values catalogue=52 layer="value batteries" heuristic own no-timing
// The variance is the mean of squares less the square of the mean, in float: rows far from zero
// lose all digits.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0, squares = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c], squares += row[c] * row[c];
    const float mean = sum / kColumns;
    const float variance = std::max(squares / kColumns - mean * mean, 0.0f);
    const float factor = 1 / std::sqrt(variance + 1e-5f);
    for (int c = 0; c < kColumns; ++c)
      out[r * kColumns + c] = (row[c] - mean) * factor * norm_weight[c] + norm_bias[c];
  }
}
