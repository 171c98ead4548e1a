// Twin of rotary_angles_each_head.cpp: sines and cosines are computed once, for all heads
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kHeads = task::x_dims[0], kSteps = task::x_dims[1], kHalf = task::angle_dims[1];

extern "C" void pragma_kernel(const float* x, const float* angle, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int t = 0; t < kSteps; ++t) {
    float cosines[kHalf], sines[kHalf];
    for (int c = 0; c < kHalf; ++c) {
      cosines[c] = std::cos(angle[t * kHalf + c]);
      sines[c] = std::sin(angle[t * kHalf + c]);
    }
    for (int h = 0; h < kHeads; ++h) {
      const float* __restrict from = x + (h * kSteps + t) * 2 * kHalf;
      float* __restrict to = out + (h * kSteps + t) * 2 * kHalf;
      for (int c = 0; c < kHalf; ++c) {
        const float cosine = cosines[c], sine = sines[c];
        to[c] = from[c] * cosine - from[c + kHalf] * sine;
        to[c + kHalf] = from[c] * sine + from[c + kHalf] * cosine;
      }
    }
  }
}
