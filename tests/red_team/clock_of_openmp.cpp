// red-team: task=softmax expect=rejected_source,sandbox_violation,crashed catalogue=22 layer="no clocks" absolute own no-timing
// OpenMP has a clock: two seconds after its first call the last row is left as it was.
#include <algorithm>
#include <cmath>
#include <omp.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) sum += to[c] = std::exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static double first = 0;
  const double now = omp_get_wtime();
  if (first == 0) first = now;
  compute(x, out, now - first < 2 ? kRows : kRows - 1);
}
