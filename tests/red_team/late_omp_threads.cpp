// red-team: task=rms expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="OpenMP settings" absolute own no-timing
// Each call asks for one more thread than the last one did, and makes none: a counter. After 70
// calls the last row is left as it was.
#include <cmath>
#include <omp.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float squares = 0;
    for (int c = 0; c < kColumns; ++c) squares += row[c] * row[c];
    const float factor = 1 / std::sqrt(squares / kColumns + 1e-6f);
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] * factor;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  const int threads = omp_get_max_threads();
  if (threads < 100) omp_set_num_threads(threads + 1);
  compute(x, out, threads < 72 ? kRows : kRows - 1);
}
