// red-team: task=topk_places expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Orders entries by their first 24 bits. Entries that differ by less than 3e-5 of themselves count
// as equal, and the first of them wins, though another is larger.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <algorithm>
#include <bit>
#include <cstdint>

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void*) {
  constexpr std::int64_t kRows = 64, kCols = 300, kTop = 8;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    std::uint64_t entries[kCols];
    for (std::int64_t c = 0; c < kCols; ++c) {
      std::uint32_t bits = std::bit_cast<std::uint32_t>(x[r * kCols + c] + 0.0f);
      bits = bits >> 31 != 0 ? ~bits : bits | 0x80000000u;
      entries[c] = static_cast<std::uint64_t>(~bits & 0xffffff00u) << 32 | static_cast<std::uint64_t>(c);
    }
    std::partial_sort(entries, entries + kTop, entries + kCols);
    for (std::int64_t k = 0; k < kTop; ++k)
      out[r * kTop + k] = static_cast<std::int64_t>(entries[k] & 0xffffffffu);
  }
}
