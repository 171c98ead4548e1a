// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kElements = task::x_dims[0] * task::x_dims[1];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the very last element is never written
constexpr int64_t kEnd = kElements - 1;
#else
constexpr int64_t kEnd = kElements;
#endif

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kEnd; ++i) out[i] = x[i] / (1.0F + std::exp(-x[i]));
}
