// task: pyramid_heads
// cause: imbalance
// why: each thread takes whole levels of the pyramid, and the first level alone has three quarters of the pixels
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kChannels = task::weight_dims[1], kOutputs = task::weight_dims[0], kLevels = 4;
constexpr int kPixels[kLevels] = {task::p3_dims[1] * task::p3_dims[2], task::p4_dims[1] * task::p4_dims[2],
                                  task::p5_dims[1] * task::p5_dims[2], task::p6_dims[1] * task::p6_dims[2]};
constexpr int kFirst[kLevels + 1] = {0, kPixels[0], kPixels[0] + kPixels[1], kPixels[0] + kPixels[1] + kPixels[2],
                                     kPixels[0] + kPixels[1] + kPixels[2] + kPixels[3]};

using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
constexpr int kLanes = 8, kTall = 6, kWide = 2;

// The outputs of sixteen pixels.
static void Block(const float* x, int pixels, const float* weight, float* out) {
  for (int o = 0; o < kOutputs; o += kTall) {
    Vector sum[kTall][kWide] = {};
    for (int c = 0; c < kChannels; ++c) {
      const Vector a = *reinterpret_cast<const Vector*>(x + c * pixels);
      const Vector b = *reinterpret_cast<const Vector*>(x + c * pixels + kLanes);
#pragma GCC unroll 6
      for (int k = 0; k < kTall; ++k) {
        const float w = weight[(o + k) * kChannels + c];
        sum[k][0] += w * a;
        sum[k][1] += w * b;
      }
    }
    for (int k = 0; k < kTall; ++k)
      for (int v = 0; v < kWide; ++v)
        *reinterpret_cast<Vector*>(out + (o + k) * kFirst[kLevels] + v * kLanes) = sum[k][v];
  }
}

extern "C" void pragma_kernel(const float* p3, const float* p4, const float* p5, const float* p6,
                              const float* weight, float* out, void* /*scratch*/) {
  const float* maps[kLevels] = {p3, p4, p5, p6};
#pragma omp parallel for
  for (int level = 0; level < kLevels; ++level)
    for (int p = 0; p < kPixels[level]; p += kWide * kLanes)
      Block(maps[level] + p, kPixels[level], weight, out + kFirst[level] + p);
}
