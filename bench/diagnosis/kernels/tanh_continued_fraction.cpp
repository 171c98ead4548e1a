// task: tanh_fraction
// cause: div_sqrt
// why: eight divisions for each element, level by level of the fraction, where the quotient of two polynomials has one
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kCount = task::x_dims[0];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for simd simdlen(32)
  for (int i = 0; i < kCount; ++i) {
    const float low = x[i] < -4 ? -4.0F : x[i];
    const float t = low > 4 ? 4.0F : low;
    const float s = t * t;
    float d = 15.0F;
#pragma GCC unroll 7
    for (int k = 13; k >= 1; k -= 2) d = static_cast<float>(k) + s / d;
    out[i] = t / d;
  }
}
