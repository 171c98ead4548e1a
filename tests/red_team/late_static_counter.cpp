// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls in a static variable; from the four hundredth on the last row is left as it was.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static int calls = 0;
  compute(x, out, ++calls <= 400 ? kRows : kRows - 1);
}
