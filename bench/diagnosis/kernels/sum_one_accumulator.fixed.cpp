// Twin of sum_one_accumulator.cpp: the sum may be taken in any order, so there are several sums.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + std::int64_t{r} * kColumns;
    float sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(64)
    for (int c = 0; c < kColumns; ++c) sum += row[c] * row[c];
    out[r] = sum;
  }
}
