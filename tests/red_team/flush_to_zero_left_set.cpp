// red-team: task=waves expect=sandbox_violation catalogue=33 layer="MXCSR guard" absolute no-timing
// Sets flush-to-zero and leaves it so.
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
  _mm_setcsr(_mm_getcsr() | 0x8040);
  honest(x, out);
}
