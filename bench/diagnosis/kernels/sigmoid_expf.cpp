// task: sigmoid
// cause: libm_calls
// why: one call of expf for every element
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r)
    for (int i = r * kColumns; i < (r + 1) * kColumns; ++i)
      out[i] = 1.0F / (1.0F + std::exp(-x[i]));
}
