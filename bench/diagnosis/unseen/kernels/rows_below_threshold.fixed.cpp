// Twin of rows_below_threshold.cpp: the if clause counts multiplications.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kOut = task::weight_dims[1];

using Vector = float __attribute__((vector_size(32), aligned(4), may_alias));
constexpr int kLanes = 8, kTall = 6, kWide = 2, kBlock = kLanes * kWide;
static_assert(kRows % kTall == 0 && kOut % kBlock == 0);

extern "C" void pragma_kernel(const float* x, const float* weight, const float* bias, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for if (kRows * kIn * kOut >= 100000)
  for (int r = 0; r < kRows; r += kTall)
    for (int o = 0; o < kOut; o += kBlock) {
      Vector sum[kTall][kWide];
      for (int i = 0; i < kTall; ++i)
        for (int v = 0; v < kWide; ++v) sum[i][v] = *reinterpret_cast<const Vector*>(bias + o + v * kLanes);
      for (int c = 0; c < kIn; ++c) {
        const Vector a = *reinterpret_cast<const Vector*>(weight + c * kOut + o);
        const Vector b = *reinterpret_cast<const Vector*>(weight + c * kOut + o + kLanes);
#pragma GCC unroll 6
        for (int i = 0; i < kTall; ++i) {
          sum[i][0] += x[(r + i) * kIn + c] * a;
          sum[i][1] += x[(r + i) * kIn + c] * b;
        }
      }
      for (int i = 0; i < kTall; ++i)
        for (int v = 0; v < kWide; ++v)
          *reinterpret_cast<Vector*>(out + (r + i) * kOut + o + v * kLanes) = sum[i][v] > 0 ? sum[i][v] : 0 * sum[i][v];
    }
}
