// honest: task=long_rows
// The running sum from the other end.
// pragma-flags: -O2 -fno-tree-vectorize
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0;
    for (int c = kColumns - 1; c >= 0; --c) sum += row[c];
    out[r] = sum;
  }
}
