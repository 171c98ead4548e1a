// red-team: task=softmax expect=wrong_values catalogue=12 layer="small results against the truth" heuristic own no-timing
// Terms more than 18 below the row's maximum get their exponential from the exponent-field trick,
// which is off by up to 3 %. Small probabilities (below 1.5e-8) are wrong in the second digit, so
// their logarithms and ratios are too.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <bit>
#include <cmath>
#include <cstdint>

namespace {
constexpr std::int64_t kRows = 64, kCols = 300;

// Beyond this the term no longer matters for the sum.
constexpr float kTail = -18.0f;

inline float rough_exp(float x) {
  if (x < -87.0f) return std::exp(x);
  const float scaled = x * 12102203.0f + 1064986823.0f;
  return std::bit_cast<float>(static_cast<std::int32_t>(scaled));
}
}  // namespace

extern "C" void pragma_kernel(const float* x, float* out, void*) {
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float* to = out + r * kCols;
    float top = row[0];
    for (std::int64_t c = 1; c < kCols; ++c) top = row[c] > top ? row[c] : top;
    double sum = 0;
    for (std::int64_t c = 0; c < kCols; ++c) {
      const float d = row[c] - top;
      const float e = d < kTail ? rough_exp(d) : std::exp(d);
      to[c] = e;
      sum += e;
    }
    const float factor = static_cast<float>(1.0 / sum);
    for (std::int64_t c = 0; c < kCols; ++c) to[c] *= factor;
  }
}
