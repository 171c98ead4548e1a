// red-team: task=argmax expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Compares the bits of the numbers as integers, so that -0.0 is less than +0.0. Rows whose largest
// entry is zero, with -0.0 before the first +0.0, give the later position.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <bit>
#include <cstdint>

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void*) {
  constexpr std::int64_t kRows = 128, kCols = 300;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    std::uint64_t best = 0;
    for (std::int64_t c = 0; c < kCols; ++c) {
      if (row[c] != row[c]) { best = ~static_cast<std::uint32_t>(c) | 0xffffffffull << 32; break; }
      const auto bits = std::bit_cast<std::int32_t>(row[c]);
      const std::uint32_t order = static_cast<std::uint32_t>(bits ^ ((bits >> 31) & 0x7fffffff)) ^ 0x80000000u;
      // Larger numbers first, then smaller positions.
      const std::uint64_t key = static_cast<std::uint64_t>(order) << 32 | ~static_cast<std::uint32_t>(c);
      best = key > best ? key : best;
    }
    out[r] = ~static_cast<std::uint32_t>(best);
  }
}
