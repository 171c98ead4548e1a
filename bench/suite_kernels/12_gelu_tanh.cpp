// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kElements = task::x_dims[0] * task::x_dims[1] * task::x_dims[2];
constexpr float kCubic = 0.044715F;
constexpr float kSqrtTwoOverPi = 0.79788456080F;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kElements; ++i) {
    const float v = x[i];
#if defined(PRAGMA_BUG)  // bug: swapped operand: the coefficient sits on the linear term
    const float inner = kCubic * v + v * v * v;
#else
    const float inner = v + kCubic * v * v * v;
#endif
    out[i] = 0.5F * v * (1.0F + std::tanh(kSqrtTwoOverPi * inner));
  }
}
