// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kElements = task::x_dims[0] * task::x_dims[1];
constexpr float kSlope = 0.15F;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kElements; ++i) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: the two branches change places
    out[i] = x[i] > 0 ? x[i] * kSlope : x[i];
#else
    out[i] = x[i] > 0 ? x[i] : x[i] * kSlope;
#endif
  }
}
