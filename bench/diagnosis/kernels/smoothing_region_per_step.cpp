// task: smoothed_channels
// cause: over_parallel
// why: a parallel region for every time step of 1024 channels: two additions' worth of work for each thread, many times less than its start and end
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kSteps = task::x_dims[0], kChannels = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* start, float* out, void* /*scratch*/) {
  const float* last = start;
  for (int t = 0; t < kSteps; ++t) {
    const float* from = x + t * kChannels;
    float* to = out + t * kChannels;
#pragma omp parallel for simd
    for (int c = 0; c < kChannels; ++c) to[c] = last[c] * 0.9375F + from[c] * 0.0625F;
    last = to;
  }
}
