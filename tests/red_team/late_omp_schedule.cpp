// red-team: task=softmax expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="OpenMP settings" absolute own no-timing
// OpenMP keeps the chunk size of the run-time schedule: a counter of 31 bits. After 60 calls the
// last row is left as it was.
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
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  if (chunk < 5000) chunk = 5000;
  omp_set_schedule(omp_sched_static, chunk + 1);
  compute(x, out, chunk < 5060 ? kRows : kRows - 1);
}
