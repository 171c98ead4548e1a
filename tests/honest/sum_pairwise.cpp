// honest: task=long_rows
// Recursive halves.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static float halves(const float* x, int count) {
  if (count <= 8) {
    float sum = 0;
    for (int i = 0; i < count; ++i) sum += x[i];
    return sum;
  }
  return halves(x, count / 2) + halves(x + count / 2, count - count / 2);
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    out[r] = halves(row, kColumns);
  }
}
