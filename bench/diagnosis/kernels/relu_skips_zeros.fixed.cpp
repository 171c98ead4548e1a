// Twin of relu_skips_zeros.cpp: the zeros are multiplied as well.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kColumns = task::w_dims[1];

extern "C" void pragma_kernel(const float* x, const float* w, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    float sum[kColumns] = {0};
    for (int k = 0; k < kDepth; ++k) {
      const float value = x[r * kDepth + k], a = value > 0 ? value : 0.0F;
      for (int c = 0; c < kColumns; ++c) sum[c] += a * w[k * kColumns + c];
    }
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = sum[c];
  }
}
