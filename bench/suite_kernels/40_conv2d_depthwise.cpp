// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kPlanes = task::x_dims[0] * kChannels;
constexpr int64_t kHeight = task::x_dims[2];
constexpr int64_t kWidth = task::x_dims[3];
constexpr int64_t kKernel = task::conv_weight_dims[2];
constexpr int64_t kPadding = kKernel / 2;
#if defined(PRAGMA_BUG)  // bug: wrong stride: input rows are stepped by the height
constexpr int64_t kRowStride = kHeight;
#else
constexpr int64_t kRowStride = kWidth;
#endif

// Adds one input row times one row of the window to one output row.
static void AddRow(const float* in, const float* weights, float* out) {
  for (int64_t kx = 0; kx < kKernel; ++kx) {
    const int64_t shift = kx - kPadding;
    const int64_t end = std::min(kWidth, kWidth - shift);
    for (int64_t ox = std::max<int64_t>(0, -shift); ox < end; ++ox) {
      out[ox] += weights[kx] * in[ox + shift];
    }
  }
}

extern "C" void pragma_kernel(const float* x, const float* conv_weight, const float* conv_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t plane = 0; plane < kPlanes; ++plane) {
    const int64_t channel = plane % kChannels;
    const float* in = x + plane * kHeight * kWidth;
    for (int64_t oy = 0; oy < kHeight; ++oy) {
      float* row = out + (plane * kHeight + oy) * kWidth;
      std::fill(row, row + kWidth, conv_bias[channel]);
      for (int64_t ky = 0; ky < kKernel; ++ky) {
        const int64_t iy = oy + ky - kPadding;
        if (iy < 0 || iy >= kHeight) continue;
        AddRow(in + iy * kRowStride, conv_weight + (channel * kKernel + ky) * kKernel, row);
      }
    }
  }
}
