// task: row_sum
// cause: dependency_chain
// also: not_vectorised
// why: every addition waits for the one before; the same order of additions is what forbids vectors, and one remedy (several sums) answers both
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + std::int64_t{r} * kColumns;
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c] * row[c];
    out[r] = sum;
  }
}
