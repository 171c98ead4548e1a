// red-team: task=rows expect=rejected_source,sandbox_violation,crashed catalogue=22 layer="no clocks" absolute own no-timing
// Reads the time stamp counter: five billion cycles after its first call the last row is left as it
// was.
#include <immintrin.h>

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
  static std::uint64_t first = 0;
  const std::uint64_t now = __rdtsc();
  if (first == 0) first = now;
  compute(x, out, now - first < 5000000000u ? kRows : kRows - 1);
}
