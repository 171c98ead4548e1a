// honest: task=layer_norm
// Two passes over each row, rows shared by OpenMP threads.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* scratch) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0, squares = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c];
    const float mean = sum / kColumns;
    for (int c = 0; c < kColumns; ++c) squares += (row[c] - mean) * (row[c] - mean);
    const float factor = 1 / std::sqrt(squares / kColumns + 1e-5f);
    for (int c = 0; c < kColumns; ++c)
      out[r * kColumns + c] = (row[c] - mean) * factor * norm_weight[c] + norm_bias[c];
  }
}
