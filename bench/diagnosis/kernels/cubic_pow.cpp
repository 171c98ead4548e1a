// task: cubic
// cause: libm_calls
// why: std::pow(x, 3) calls the general power function, in double precision, for every element
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    for (int i = r * kColumns; i < (r + 1) * kColumns; ++i) {
      const float cube = static_cast<float>(std::pow(x[i], 3));
      out[i] = x[i] + 0.044715F * cube;
    }
  }
}
