// red-team: task=row_max expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The maximum starts at -3e38 instead of minus infinity. Rows that are filled with finfo.min (a
// usual mask, -3.4e38) or with -inf give -3e38.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 96, kCols = 300;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float top = -3e38f;
#pragma omp simd reduction(max : top)
    for (std::int64_t c = 0; c < kCols; ++c) top = row[c] > top ? row[c] : top;
    out[r] = top;
  }
}
