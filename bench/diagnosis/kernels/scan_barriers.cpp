// task: scan
// cause: over_parallel
// why: a barrier of all threads after each row of 128 sums
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel
  {
#pragma omp for simd
    for (int c = 0; c < kColumns; ++c) out[c] = x[c];
    for (int r = 1; r < kRows; ++r) {
#pragma omp for simd
      for (int c = 0; c < kColumns; ++c)
        out[r * kColumns + c] = out[(r - 1) * kColumns + c] + x[r * kColumns + c];
    }
  }
}
