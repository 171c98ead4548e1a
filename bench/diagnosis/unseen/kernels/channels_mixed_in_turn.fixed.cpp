// Twin of channels_mixed_in_turn.cpp: all output channels of 32 pixels, then the next pixels.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kChannels = task::x_dims[0], kPixels = task::x_dims[1], kOutputs = task::weight_dims[0];

using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
constexpr int kLanes = 8, kTall = 4, kWide = 4, kBlock = kLanes * kWide;
static_assert(kPixels % kBlock == 0 && kOutputs % kTall == 0);

static void Block(const float* x, const float* weight, float* out) {
  Vector sum[kTall][kWide] = {};
  for (int c = 0; c < kChannels; ++c)
#pragma GCC unroll 4
    for (int v = 0; v < kWide; ++v) {
      const Vector value = *reinterpret_cast<const Vector*>(x + c * kPixels + v * kLanes);
#pragma GCC unroll 4
      for (int i = 0; i < kTall; ++i) sum[i][v] += weight[i * kChannels + c] * value;
    }
  for (int i = 0; i < kTall; ++i)
    for (int v = 0; v < kWide; ++v) *reinterpret_cast<Vector*>(out + i * kPixels + v * kLanes) = sum[i][v];
}

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int p = 0; p < kPixels; p += kBlock)
    for (int o = 0; o < kOutputs; o += kTall) Block(x + p, weight + o * kChannels, out + o * kPixels + p);
}
