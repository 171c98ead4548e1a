// Twin of rotate_aliasing.cpp: has __restrict on every pointer.
// pragma-flags: -O3 -march=native
#include "kernel.h"

constexpr int kCount = task::x_dims[0];

extern "C" void pragma_kernel(const float* __restrict x, const float* __restrict y,
                              const float* __restrict z, const float* __restrict w,
                              const float* __restrict a, const float* __restrict b,
                              const float* __restrict c, float* __restrict out_0,
                              float* __restrict out_1, float* __restrict out_2, void* /*scratch*/) {
  for (int i = 0; i < kCount; ++i) {
    const float tx = b[i] * z[i] - c[i] * y[i];
    const float ty = c[i] * x[i] - a[i] * z[i];
    const float tz = a[i] * y[i] - b[i] * x[i];
    out_0[i] = x[i] + 2 * (w[i] * tx + b[i] * tz - c[i] * ty);
    out_1[i] = y[i] + 2 * (w[i] * ty + c[i] * tx - a[i] * tz);
    out_2[i] = z[i] + 2 * (w[i] * tz + a[i] * ty - b[i] * tx);
  }
}
