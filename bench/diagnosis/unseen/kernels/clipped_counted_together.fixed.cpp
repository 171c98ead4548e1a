// Twin of clipped_counted_together.cpp: each thread has a counter of its own until the end.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kWidth = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, std::int64_t* clipped, void* /*scratch*/) {
  std::int64_t count = 0;
#pragma omp parallel for reduction(+ : count)
  for (int r = 0; r < kRows; ++r) {
    const float* __restrict__ from = x + r * kWidth;
    float* __restrict__ to = out + r * kWidth;
    int outside = 0;
#pragma omp simd reduction(+ : outside)
    for (int c = 0; c < kWidth; ++c) {
      const float low = from[c] < -1 ? -1 : from[c];
      to[c] = low > 1 ? 1 : low;
      outside += to[c] != from[c];
    }
    count += outside;
  }
  *clipped = count;
}
