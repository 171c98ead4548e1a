// task: rotary
// cause: libm_calls
// why: sinf and cosf of the same angles are called again for each of sixteen heads
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstddef>

#include "kernel.h"

constexpr int kHeads = task::x_dims[0], kSteps = task::x_dims[1], kHalf = task::angle_dims[1];

extern "C" void pragma_kernel(const float* x, const float* angle, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int t = 0; t < kSteps; ++t) {
    const float* angles = angle + t * kHalf;
    for (int h = 0; h < kHeads; ++h) {
      const float* __restrict from = x + (h * kSteps + t) * 2 * kHalf;
      float* __restrict to = out + (h * kSteps + t) * 2 * kHalf;
      for (int c = 0; c < kHalf; ++c) {
        const float cosine = std::cos(angles[c]), sine = std::sin(angles[c]);
        to[c] = from[c] * cosine - from[c + kHalf] * sine;
        to[c + kHalf] = from[c] * sine + from[c + kHalf] * cosine;
      }
    }
  }
}
