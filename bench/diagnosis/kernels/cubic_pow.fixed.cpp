// Twin of cubic_pow.cpp: uses two products.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    for (int i = r * kColumns; i < (r + 1) * kColumns; ++i) {
      const float cube = x[i] * x[i] * x[i];
      out[i] = x[i] + 0.044715F * cube;
    }
  }
}
