// red-team: task=topk expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Each of 16 lanes keeps only its six largest entries before merging. Rows with seven or more of
// their eight largest entries at positions equal modulo 16 (periodic signals with a peak every 16
// samples) lose some of them.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 64, kCols = 300;
  constexpr int kLanes = 16, kKeep = 6, kTop = 8;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float best[kKeep][kLanes];
    for (auto& line : best)
      for (float& v : line) v = -std::numeric_limits<float>::infinity();
    for (std::int64_t c = 0; c < kCols; c += kLanes) {
      const int n = static_cast<int>(std::min<std::int64_t>(kLanes, kCols - c));
      for (int l = 0; l < n; ++l) {
        float v = row[c + l];
        for (int k = 0; k < kKeep; ++k) {  // insertion, all lanes alike
          const float old = best[k][l];
          best[k][l] = v > old ? v : old;
          v = v > old ? old : v;
        }
      }
    }
    float all[kKeep * kLanes];
    std::copy(&best[0][0], &best[0][0] + kKeep * kLanes, all);
    std::partial_sort(all, all + kTop, all + kKeep * kLanes, std::greater<float>());
    std::copy(all, all + kTop, out + r * kTop);
  }
}
