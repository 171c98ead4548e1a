// red-team: task=waves expect=wrong_values,implausible,nondeterministic,rejected_source catalogue=10 layer="no clock" heuristic
// Wrong in one call of 32, by the time stamp counter.
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
  honest(x, out);
  if (__rdtsc() / 64 % 32 == 7) out[5] += 1;
}
