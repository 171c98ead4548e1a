// Twin of pixel_norm_pixel_by_pixel.cpp: the inner loops run over the pixels of one channel.
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
      float sum[kBlock] = {0}, scale[kBlock];
      for (int c = 0; c < kChannels; ++c)
#pragma omp simd
        for (int p = 0; p < kBlock; ++p) sum[p] += from[c * kPixels + p] * from[c * kPixels + p];
#pragma omp simd
      for (int p = 0; p < kBlock; ++p) scale[p] = 1 / std::sqrt(sum[p] / kChannels + 1e-6F);
      for (int c = 0; c < kChannels; ++c)
#pragma omp simd
        for (int p = 0; p < kBlock; ++p) to[c * kPixels + p] = from[c * kPixels + p] * scale[p];
    }
}
