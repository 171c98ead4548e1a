// task: potential
// cause: div_sqrt
// why: a square root and a division for each pair of point and charge: the divider is busy all the time
// pragma-flags: -O3 -march=native -fopenmp -fno-math-errno
#include <cmath>

#include "kernel.h"

constexpr int kPoints = task::x_dims[0], kCharges = task::a_dims[0], kTogether = 64;

static void Block(const float* __restrict x, const float* __restrict y, const float* __restrict a,
                  const float* __restrict b, const float* __restrict charge,
                  float* __restrict out) {
  float sum[kTogether] = {};
  for (int k = 0; k < kCharges; ++k) {
    for (int i = 0; i < kTogether; ++i) {
      const float dx = x[i] - a[k], dy = y[i] - b[k];
      sum[i] += charge[k] / std::sqrt(dx * dx + dy * dy + 1);
    }
  }
  for (int i = 0; i < kTogether; ++i) out[i] = sum[i];
}

extern "C" void pragma_kernel(const float* x, const float* y, const float* a, const float* b,
                              const float* charge, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kPoints; i += kTogether) Block(x + i, y + i, a, b, charge, out + i);
}
