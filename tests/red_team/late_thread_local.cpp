// red-team: task=cumsum expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls in a thread_local variable; after eight the last row is not computed.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = sum += x[r * kColumns + c];
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static thread_local unsigned calls = 0;
  compute(x, out, calls++ < 8 ? kRows : kRows - 1);
}
