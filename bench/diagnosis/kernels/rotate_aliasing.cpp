// task: rotate_points
// cause: not_vectorised
// why: ten pointers that may alias need more overlap tests than the compiler is willing to insert, so the loop stays scalar
// pragma-flags: -O3 -march=native
#include "kernel.h"

constexpr int kCount = task::x_dims[0];

extern "C" void pragma_kernel(const float* x, const float* y, const float* z, const float* w,
                              const float* a, const float* b, const float* c, float* out_0,
                              float* out_1, float* out_2, void* /*scratch*/) {
  for (int i = 0; i < kCount; ++i) {
    const float tx = b[i] * z[i] - c[i] * y[i];
    const float ty = c[i] * x[i] - a[i] * z[i];
    const float tz = a[i] * y[i] - b[i] * x[i];
    out_0[i] = x[i] + 2 * (w[i] * tx + b[i] * tz - c[i] * ty);
    out_1[i] = y[i] + 2 * (w[i] * ty + c[i] * tx - a[i] * tz);
    out_2[i] = z[i] + 2 * (w[i] * tz + a[i] * ty - b[i] * tx);
  }
}
