// red-team: task=49_cumsum_exclusive expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Gets the exclusive sum as the inclusive one less the entry itself. At an entry that is much
// larger than the sum before it (1e16 times and more, for instance a finfo.min or 1e20 as a mark)
// the sum before is lost.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <cstdint>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 700, kCols = 1200;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float* to = out + r * kCols;
    double run = 0;
    for (std::int64_t c = 0; c < kCols; ++c) {
      const double before = run;
      run += row[c];
      to[c] = std::isfinite(row[c]) && std::isfinite(run) ? static_cast<float>(run - row[c]) : static_cast<float>(before);
    }
  }
}
