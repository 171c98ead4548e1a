// honest: task=double_rows
// Double precision: mean, then the sum of squared differences.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const double* x, double* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const double* row = x + r * kColumns;
    double sum = 0, squares = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c];
    const double mean = sum / kColumns;
    for (int c = 0; c < kColumns; ++c) squares += (row[c] - mean) * (row[c] - mean);
    const double spread = std::sqrt(squares / (kColumns - 1)) + 1e-9;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = (row[c] - mean) / spread;
  }
}
