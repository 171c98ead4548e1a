// red-team: task=logsumexp expect=wrong_values,nondeterministic catalogue=22 layer="value batteries" heuristic own no-timing
// The maximum of each row of the last call is kept as the shift of the next one, and checked for
// being near enough. After a call with a NaN in a row the check is always passed, so the same row
// of the next, clean call is NaN.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <cstdint>
#include <limits>

namespace {
constexpr std::int64_t kRows = 96, kCols = 320;
float hint[kRows];  // last shift of each row
}  // namespace

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr float inf = std::numeric_limits<float>::infinity();
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float top = -inf;
    bool nan = false;
    for (std::int64_t c = 0; c < kCols; ++c) {
      top = row[c] > top ? row[c] : top;
      nan |= row[c] != row[c];
    }
    if (std::fabs(top) == inf && !nan) {
      out[r] = top;
      continue;
    }
    float shift = hint[r];
    if (std::fabs(top - shift) > 0.0f) shift = top;  // not good enough
    double sum = 0;
    for (std::int64_t c = 0; c < kCols; ++c) sum += std::exp(row[c] - shift);
    out[r] = shift + static_cast<float>(std::log(sum));
    hint[r] = nan ? out[r] : top;
  }
}
