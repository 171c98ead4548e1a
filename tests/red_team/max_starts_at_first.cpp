// red-team: task=blind_rowmax expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=12 layer="value batteries" heuristic own no-timing
// Starts every row's maximum with the tensor's first entry instead of the row's.
// Wrong for every row whose largest entry is below x[0][0], e.g. rows of different scale or offset.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const int columns = task::x_dims[1];
  const float start = std::isnan(x[0]) ? -INFINITY : x[0];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    float most = start;
    bool nan = false;
    for (int c = 0; c < columns; ++c) {
      const float v = x[r * columns + c];
      nan |= std::isnan(v);
      most = v > most ? v : most;
    }
    out[r] = nan ? NAN : most;
  }
}
