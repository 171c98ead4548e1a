// honest: task=logsumexp
// Rows of -inf alone and rows with +inf are told apart first, as they make NaN of the difference to
// the maximum.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < kColumns; ++c) top = top >= row[c] || top != top ? top : row[c];
    const float shift = std::isinf(top) ? 0 : top;
    for (int c = 0; c < kColumns; ++c) sum += std::exp(row[c] - shift);
    out[r] = shift + std::log(sum);
  }
}
