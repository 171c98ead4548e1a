// honest: task=long_rows
// Compensated summation.
// pragma-flags: -O3 -march=native
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0, lost = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float term = row[c] - lost;
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    out[r] = sum;
  }
}
