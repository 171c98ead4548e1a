// task: short_rows_norm
// cause: over_parallel
// why: a task for each row of 64 elements: making and fetching a task takes longer than the row
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void Row(const float* __restrict x, float* __restrict out) {
  float sum = 1;
#pragma omp simd reduction(+ : sum)
  for (int c = 0; c < kColumns; ++c) sum += x[c] * x[c];
  const float scale = 1 / std::sqrt(sum);
  for (int c = 0; c < kColumns; ++c) out[c] = x[c] * scale;
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < kRows; ++r) {
#pragma omp task firstprivate(r)
    Row(x + r * kColumns, out + r * kColumns);
  }
}
