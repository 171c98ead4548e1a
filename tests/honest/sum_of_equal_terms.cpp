// honest: task=softplus_rows
// A running sum whose terms are all ln 2 where the inputs are zeros: each addition rounds the same way.
// pragma-flags: -O2 -fno-tree-vectorize
#include "kernel.h"

#include <cmath>

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c] > 20 ? row[c] : std::log1p(std::exp(row[c]));
    out[r] = sum;
  }
}
