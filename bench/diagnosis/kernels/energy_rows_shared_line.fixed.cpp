// Twin of energy_rows_shared_line.cpp: each thread takes one half of the rows in one piece.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < kRows; ++r) {
    out[r] = 0;
    for (int c = 0; c < kColumns; ++c)
      out[r] += x[r * kColumns + c] * x[r * kColumns + c] * weight[c];
  }
}
