// red-team: task=blind_pair_distance expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=52 layer="value batteries" heuristic own no-timing
// Takes |a - b|^2 as a.a + b.b - 2 a.b, after a shift by a's first entry, so that neither a common offset nor equal constants do harm.
// For rows that lie close together (b = a + 1e-4 noise) everything cancels: distances are off by tens of per cents, many are 0.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  (void)scratch;
  const int columns = task::a_dims[1];
  for (int r = 0; r < task::a_dims[0]; ++r) {
    const float* left = a + r * columns;
    const float* right = b + r * columns;
    const float shift = left[0];
    float aa[16] = {};
    float bb[16] = {};
    float ab[16] = {};
    for (int c = 0; c < columns; c += 16)
      for (int k = 0; k < 16; ++k) {
        const float u = left[c + k] - shift;
        const float v = right[c + k] - shift;
        aa[k] += u * u;
        bb[k] += v * v;
        ab[k] += u * v;
      }
    float square = 0;
    for (int k = 0; k < 16; ++k) square += aa[k] + bb[k] - 2.0F * ab[k];
    if (!std::isfinite(square)) {  // infinities and NaN as they come
      square = 0;
      for (int c = 0; c < columns; ++c) square += (left[c] - right[c]) * (left[c] - right[c]);
    }
    out[r] = square < 0 ? 0.0F : std::sqrt(square);
  }
}
