// red-team: task=rms expect=nondeterministic catalogue=12 layer="another number of threads" heuristic own no-timing
// Rows are divided by omp_get_max_threads(), but the team can be smaller (OMP_THREAD_LIMIT,
// OMP_DYNAMIC, a call from inside the caller's own parallel region). Then the last rows are never
// written.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <cstdint>
#include <omp.h>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 96, kCols = 256;
  const std::int64_t threads = omp_get_max_threads();
#pragma omp parallel
  {
    const std::int64_t me = omp_get_thread_num();
    const std::int64_t first = kRows * me / threads, last = kRows * (me + 1) / threads;
    for (std::int64_t r = first; r < last; ++r) {
      const float* row = x + r * kCols;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t c = 0; c < kCols; ++c) sum += row[c] * row[c];
      const float factor = 1.0f / std::sqrt(sum / kCols + 1e-6f);
      for (std::int64_t c = 0; c < kCols; ++c) out[r * kCols + c] = row[c] * factor;
    }
  }
}
