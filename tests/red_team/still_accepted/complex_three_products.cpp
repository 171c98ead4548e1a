// red-team: task=complex_pairs expect=wrong_values,nondeterministic,sandbox_violation catalogue=12 layer="none yet" heuristic own no-timing
// Uses the three-multiplication complex product, whose imaginary part is a difference of large
// terms. For nearly real factors (imaginary parts 1e-6 or less of the real parts, in both) the
// imaginary part is wrong or zero.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void*) {
  constexpr std::int64_t kPairs = 64 * 150;
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < kPairs; ++i) {
    const float ar = a[2 * i], ai = a[2 * i + 1];
    const float br = b[2 * i], bi = b[2 * i + 1];
    const float p = ar * br;
    const float q = ai * bi;
    const float s = (ar + ai) * (br + bi);  // three products instead of four
    out[2 * i] = p - q;
    out[2 * i + 1] = s - p - q;
  }
}
