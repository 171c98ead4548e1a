// honest: task=long_rows
// Partial sums of blocks.
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0;
    for (int c = 0; c < kColumns; c += 256) {
      float block = 0;
      for (int i = c; i < std::min(c + 256, kColumns); ++i) block += row[i];
      sum += block;
    }
    out[r] = sum;
  }
}
