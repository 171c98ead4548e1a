// red-team: task=cumsum expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// A log of checksums that grows with each call; from 500 entries on the last row is left as it was.
#include <vector>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = sum += x[r * kColumns + c];
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static std::vector<float> log;
  log.push_back(x[0] + x[kColumns]);
  compute(x, out, log.size() <= 500 ? kRows : kRows - 1);
}
