// red-team: task=softmax expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=7 layer="infinities and NaN" heuristic own no-timing
// Subtracts the largest of the first 44 entries of a row instead of the row's largest (if that is finite).
// Rows that rise by more than 88 after that overflow, and rows whose first 44 entries are masked by -inf are taken without any shift.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* in = x + r * columns;
    float* to = out + r * columns;
    float most = -INFINITY;
    for (int c = 0; c < 44; ++c) most = in[c] > most ? in[c] : most;
    if (std::isinf(most)) most = 0.0F;
    for (int c = 0; c < columns; ++c) most = in[c] == INFINITY ? INFINITY : most;
    float sum = 0;
    for (int c = 0; c < columns; ++c) sum += to[c] = std::exp(in[c] - most);
    const float factor = 1.0F / sum;
    for (int c = 0; c < columns; ++c) to[c] *= factor;
  }
}
