// task: taxicab
// cause: type_conversion
// why: sums of floats in double precision: each element is converted, and a vector holds half as many
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kLeft = task::a_dims[0], kRight = task::b_dims[0], kDepth = task::a_dims[1];
static_assert(kRight % 4 == 0);

using Sum = double;

static void Four(const float* a, const float* b, float* out) {
  Sum sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
  for (int k = 0; k < kDepth; ++k) {
    const Sum left = a[k];
    sum0 += std::fabs(left - static_cast<Sum>(b[k]));
    sum1 += std::fabs(left - static_cast<Sum>(b[k + kDepth]));
    sum2 += std::fabs(left - static_cast<Sum>(b[k + 2 * kDepth]));
    sum3 += std::fabs(left - static_cast<Sum>(b[k + 3 * kDepth]));
  }
  out[0] = sum0;
  out[1] = sum1;
  out[2] = sum2;
  out[3] = sum3;
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kLeft; ++i)
    for (int j = 0; j < kRight; j += 4) Four(a + i * kDepth, b + j * kDepth, out + i * kRight + j);
}
