// Twin of sigmoid_expf.cpp: -ffast-math makes it call the C library's vector function. No infinity may arise.
// pragma-flags: -O3 -march=native -fopenmp -ffast-math
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    for (int i = r * kColumns; i < (r + 1) * kColumns; ++i) {
      const float power = x[i] > -87.0F ? -x[i] : 87.0F;
      out[i] = 1.0F / (1.0F + std::exp(power));
    }
  }
}
