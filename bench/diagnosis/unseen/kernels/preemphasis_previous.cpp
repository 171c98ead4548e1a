// task: preemphasis
// cause: not_vectorised
// why: the sample before is carried from iteration to iteration in a variable, which keeps the loop scalar
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kFrames = task::frames_dims[0], kLength = task::frames_dims[1];

extern "C" void pragma_kernel(const float* frames, const float* window, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int f = 0; f < kFrames; ++f) {
    const float* __restrict__ x = frames + f * kLength;
    float* __restrict__ to = out + f * kLength;
    float previous = 0;
    for (int t = 0; t < kLength; ++t) {
      const float sample = x[t];
      to[t] = (sample - 0.97F * previous) * window[t];
      previous = sample;
    }
  }
}
