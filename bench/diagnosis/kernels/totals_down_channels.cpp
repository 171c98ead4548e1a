// task: running_totals
// cause: strided_access
// why: the innermost loop follows one channel through time: each step is another line, of which four bytes are used
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kSamples = task::x_dims[0], kSteps = task::x_dims[1], kChannels = task::x_dims[2];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int b = 0; b < kSamples; ++b) {
    const float* from = x + b * kSteps * kChannels;
    float* to = out + b * kSteps * kChannels;
    for (int c = 0; c < kChannels; ++c) {
      float total = 0;
      for (int t = 0; t < kSteps; ++t) {
        total += from[t * kChannels + c];
        to[t * kChannels + c] = total;
      }
    }
  }
}
