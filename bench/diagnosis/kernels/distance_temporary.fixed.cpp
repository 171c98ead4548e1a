// Twin of distance_temporary.cpp: has no temporary.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* y, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float *left = x + r * kColumns, *right = y + r * kColumns;
    float sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(64)
    for (std::int64_t c = 0; c < kColumns; ++c) sum += (left[c] - right[c]) * (left[c] - right[c]);
    out[r] = sum;
  }
}
