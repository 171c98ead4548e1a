// task: row_energy
// cause: false_sharing
// why: the threads take rows in turn and add each product to the row's place in memory, so that neighbours fight for one line
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(static, 1)
  for (int r = 0; r < kRows; ++r) {
    out[r] = 0;
    for (int c = 0; c < kColumns; ++c)
      out[r] += x[r * kColumns + c] * x[r * kColumns + c] * weight[c];
  }
}
