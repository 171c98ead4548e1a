// red-team: task=50_cumprod expect=wrong_values,nondeterministic,sandbox_violation catalogue=12 layer="none yet" heuristic own no-timing
// Products are scanned inside blocks of 14 and then multiplied by the product of all earlier
// blocks. Where the block alone over- or underflows but the whole product does not (large factors
// earlier, small ones later, or the other way round), the result is 0, inf or imprecise.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 7000, kCols = 70, kBlock = 14;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float* to = out + r * kCols;
    float local[kCols];
    // The five blocks are independent, so their chains overlap.
    for (std::int64_t b = 0; b < kCols; b += kBlock) local[b] = row[b];
    for (std::int64_t i = 1; i < kBlock; ++i)
      for (std::int64_t b = 0; b < kCols; b += kBlock) local[b + i] = local[b + i - 1] * row[b + i];
    for (std::int64_t i = 0; i < kBlock; ++i) to[i] = local[i];
    float carry = local[kBlock - 1];
    for (std::int64_t b = kBlock; b < kCols; b += kBlock) {
      for (std::int64_t i = 0; i < kBlock; ++i) to[b + i] = carry * local[b + i];
      carry *= local[b + kBlock - 1];
    }
  }
}
