// red-team: task=blind_expm1_ratio expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=52 layer="value batteries" heuristic own no-timing
// Takes (exp(x) - 1) / x in double precision, which hides the cancellation on every drawn input.
// For |x| below 1e-13 the result is off by per cents up to 100 % (1e-17 gives 0 instead of 1).
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const int count = task::x_dims[0] * task::x_dims[1];
  for (int i = 0; i < count; ++i) {
    const double v = x[i];
    out[i] = std::isinf(x[i]) ? (v > 0 ? NAN : 0.0F) : static_cast<float>((std::exp(v) - 1.0) / v);
  }
}
