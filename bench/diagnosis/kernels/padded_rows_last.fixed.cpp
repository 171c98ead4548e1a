// Twin of padded_rows_last.cpp: rows are handed out eight at a time, as the threads get to them.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kSteps = 32;

extern "C" void pragma_kernel(const float* x, const float* used, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int r = 0; r < kRows; ++r) {
    const float* from = x + std::int64_t{r} * kColumns;
    float* to = out + std::int64_t{r} * kColumns;
    if (used[r] > 0) {
#pragma omp simd simdlen(64)
      for (int c = 0; c < kColumns; ++c) {
        const float low = from[c] < -1 ? -1.0F : from[c];
        float h = low > 1 ? 1.0F : low;
#pragma GCC unroll 32
        for (int s = 0; s < kSteps; ++s) h = h * 0.875F + h * h * 0.0625F;
        to[c] = h;
      }
    } else {
      for (int c = 0; c < kColumns; ++c) to[c] = 0;
    }
  }
}
