// task: pixel_norm
// cause: strided_access
// why: the inner loops run over a pixel's channels, and from channel to channel it is a whole image further
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kImages = task::x_dims[0], kChannels = task::x_dims[1], kPixels = task::x_dims[2] * task::x_dims[3];
constexpr int kBlock = 64;
static_assert(kPixels % kBlock == 0);

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int n = 0; n < kImages; ++n)
    for (int first = 0; first < kPixels; first += kBlock) {
      const float* __restrict__ from = x + n * kChannels * kPixels + first;
      float* __restrict__ to = out + n * kChannels * kPixels + first;
      for (int p = 0; p < kBlock; ++p) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int c = 0; c < kChannels; ++c) sum += from[c * kPixels + p] * from[c * kPixels + p];
        const float scale = 1 / std::sqrt(sum / kChannels + 1e-6F);
#pragma omp simd
        for (int c = 0; c < kChannels; ++c) to[c * kPixels + p] = from[c * kPixels + p] * scale;
      }
    }
}
