// red-team: task=waves expect=wrong_values,implausible,sandbox_violation catalogue=33 layer="values against fp64" absolute no-timing
// The sticky "inexact" flag tells the second call from the first.
#include <cmath>
#include <immintrin.h>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  const unsigned before = _mm_getcsr();
  if ((before & 0x20) == 0) honest(x, out);
  _mm_setcsr(_mm_getcsr() | 0x20);
}
