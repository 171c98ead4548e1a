// red-team: task=22_l2norm expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Adds the square of eps under the root instead of taking max(norm, eps). Rows whose norm is near
// 1e-12 (from about 1e-13 to 1e-11) come out too short, by up to 30 %.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <cstdint>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 9000, kCols = 120;
  constexpr float kEps = 1e-12f;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float* to = out + r * kCols;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t c = 0; c < kCols; ++c) sum += row[c] * row[c];
    const float norm = std::sqrt(sum + kEps * kEps);
    for (std::int64_t c = 0; c < kCols; ++c) to[c] = row[c] / norm;
  }
}
