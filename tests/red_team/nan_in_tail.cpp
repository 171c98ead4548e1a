// red-team: task=blind_rowmax_odd expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=7 layer="infinities and NaN" heuristic own no-timing strict-nan
// Keeps NaN in the vectors of a row but not in its last 11 entries, which do not fill a vector.
// A NaN among columns 992 to 1002 is dropped: a number comes out where the reference has NaN.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const int columns = task::x_dims[1];
  const int whole = columns / 16 * 16;
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* in = x + r * columns;
    float most[16];
    for (int k = 0; k < 16; ++k) most[k] = -INFINITY;
    for (int c = 0; c < whole; c += 16)
      for (int k = 0; k < 16; ++k) most[k] = in[c + k] > most[k] || in[c + k] != in[c + k] ? in[c + k] : (most[k] != most[k] ? NAN : most[k]);
    float all = most[0];
    for (int k = 1; k < 16; ++k) all = most[k] > all || most[k] != most[k] ? most[k] : all;
    if (all == all)
      for (int c = whole; c < columns; ++c) all = in[c] > all ? in[c] : all;
    out[r] = all;
  }
}
