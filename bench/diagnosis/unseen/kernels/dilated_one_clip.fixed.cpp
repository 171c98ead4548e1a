// Twin of dilated_one_clip.cpp: the threads also divide the blocks of time among themselves.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kClips = task::x_dims[0], kChannels = task::x_dims[1], kLength = task::x_dims[2];
constexpr int kOutputs = task::weight_dims[0], kTaps = task::weight_dims[2], kDilation = 4;
constexpr int kSteps = kLength - (kTaps - 1) * kDilation;

using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
constexpr int kLanes = 8, kTall = 4, kWide = 2, kBlock = kLanes * kWide;
static_assert(kSteps % kBlock == 0 && kOutputs % kTall == 0);

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int n = 0; n < kClips; ++n)
    for (int t = 0; t < kSteps; t += kBlock)
      for (int o = 0; o < kOutputs; o += kTall) {
        Vector sum[kTall][kWide] = {};
        for (int c = 0; c < kChannels; ++c)
          for (int k = 0; k < kTaps; ++k) {
            const float* from = x + (n * kChannels + c) * kLength + t + k * kDilation;
#pragma GCC unroll 4
            for (int i = 0; i < kTall; ++i) {
              const float w = weight[((o + i) * kChannels + c) * kTaps + k];
#pragma GCC unroll 2
              for (int v = 0; v < kWide; ++v)
                sum[i][v] += w * *reinterpret_cast<const Vector*>(from + v * kLanes);
            }
          }
        for (int i = 0; i < kTall; ++i)
          for (int v = 0; v < kWide; ++v)
            *reinterpret_cast<Vector*>(out + (n * kOutputs + o + i) * kSteps + t + v * kLanes) = sum[i][v];
      }
}
