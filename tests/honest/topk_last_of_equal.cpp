// honest: task=topk_places
// Among equal entries the last one comes first, unlike in Torch, which does not say which does.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <algorithm>
#include <cstdint>

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void*) {
  constexpr std::int64_t kRows = 64, kCols = 300, kTop = 8;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    const auto before = [row](std::int64_t a, std::int64_t b) {
      const bool nan_a = row[a] != row[a], nan_b = row[b] != row[b];
      if (nan_a != nan_b) return nan_a;
      return row[a] > row[b] || (!(row[b] > row[a]) && a > b);
    };
    std::int64_t places[kCols];
    for (std::int64_t c = 0; c < kCols; ++c) places[c] = c;
    std::partial_sort(places, places + kTop, places + kCols, before);
    std::copy(places, places + kTop, out + r * kTop);
  }
}
