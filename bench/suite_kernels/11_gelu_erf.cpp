// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kElements = task::x_dims[0] * task::x_dims[1];
constexpr float kSqrtTwo = 1.41421356237F;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kElements; ++i) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: the division the wrong way round
    const float argument = kSqrtTwo / x[i];
#else
    const float argument = x[i] / kSqrtTwo;
#endif
    out[i] = 0.5F * x[i] * (1.0F + std::erf(argument));
  }
}
