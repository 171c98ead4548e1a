// honest: task=long_rows
// -Ofast, whose start-up code would set flush-to-zero if it were linked.
// pragma-flags: -Ofast -march=native -funroll-loops
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c];
    out[r] = sum;
  }
}
