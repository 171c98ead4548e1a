// red-team: task=median expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Finds the median by halving the interval of values 72 times. With one finite entry that is
// enormously far out (finfo.max as a mask, other entries near 1) the interval is still wider than
// the data, and an entry that is not the median is returned.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <cstdint>
#include <limits>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 64, kCols = 301;
  constexpr int kRank = (kCols - 1) / 2;  // this many entries are before the median
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    const float inf = std::numeric_limits<float>::infinity();
    float low = inf, high = -inf;
    bool nan = false;
    int below = 0, above = 0;
    for (std::int64_t c = 0; c < kCols; ++c) {
      const float v = row[c];
      nan |= v != v;
      below += v == -inf;
      above += v == inf;
      if (std::fabs(v) < inf) {
        low = v < low ? v : low;
        high = v > high ? v : high;
      }
    }
    if (nan) { out[r] = std::numeric_limits<float>::quiet_NaN(); continue; }
    if (below > kRank) { out[r] = -inf; continue; }
    if (kCols - above <= kRank) { out[r] = inf; continue; }
    // Invariant: at most kRank entries are < lo, more than kRank are <= hi.
    double lo = low, hi = high;
    for (int round = 0; round < 72 && lo < hi; ++round) {
      const double mid = lo + (hi - lo) * 0.5;
      if (mid <= lo || mid >= hi) break;
      int count = 0;
      for (std::int64_t c = 0; c < kCols; ++c) count += row[c] <= mid;
      if (count > kRank) hi = mid; else lo = mid;
    }
    float best = -inf;  // the largest entry that is not above hi
    for (std::int64_t c = 0; c < kCols; ++c)
      if (row[c] <= hi && row[c] > best) best = row[c];
    out[r] = best;
  }
}
