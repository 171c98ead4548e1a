// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kElements = task::x_dims[0] * task::x_dims[1];
constexpr float kBeta = 1.5F;
constexpr float kThreshold = 12.0F;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kElements; ++i) {
    const float scaled = x[i] * kBeta;
#if defined(PRAGMA_BUG)  // bug: swapped operand: the comparison the wrong way round
    const bool linear = kThreshold > scaled;
#else
    const bool linear = scaled > kThreshold;
#endif
    out[i] = linear ? x[i] : std::log1p(std::exp(scaled)) / kBeta;
  }
}
