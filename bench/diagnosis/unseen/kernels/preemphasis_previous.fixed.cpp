// Twin of preemphasis_previous.cpp: the sample before is loaded again.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kFrames = task::frames_dims[0], kLength = task::frames_dims[1];

extern "C" void pragma_kernel(const float* frames, const float* window, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int f = 0; f < kFrames; ++f) {
    const float* __restrict__ x = frames + f * kLength;
    float* __restrict__ to = out + f * kLength;
    to[0] = x[0] * window[0];
    for (int t = 1; t < kLength; ++t) to[t] = (x[t] - 0.97F * x[t - 1]) * window[t];
  }
}
