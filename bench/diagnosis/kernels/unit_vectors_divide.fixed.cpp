// Twin of unit_vectors_divide.cpp: one reciprocal and three products.
// pragma-flags: -O3 -march=native -fopenmp -fno-math-errno
#include <cmath>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kBlock = 2048;

static void Block(const float* __restrict x, const float* __restrict y, const float* __restrict z,
                  float* __restrict u, float* __restrict v, float* __restrict w) {
  for (int i = 0; i < kBlock; ++i) {
    const float length = std::sqrt(x[i] * x[i] + y[i] * y[i] + z[i] * z[i] + 1e-6F);
    const float inverse = 1.0F / length;
    u[i] = x[i] * inverse;
    v[i] = y[i] * inverse;
    w[i] = z[i] * inverse;
  }
}

extern "C" void pragma_kernel(const float* x, const float* y, const float* z, float* out_0,
                              float* out_1, float* out_2, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kCount; i += kBlock)
    Block(x + i, y + i, z + i, out_0 + i, out_1 + i, out_2 + i);
}
