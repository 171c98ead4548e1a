// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kHeight = task::x_dims[2];
constexpr int64_t kWidth = task::x_dims[3];
constexpr int64_t kFilters = task::conv_weight_dims[0];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the last input row is taken for padding
constexpr int64_t kInputRows = kHeight - 1;
#else
constexpr int64_t kInputRows = kHeight;
#endif

// Adds one input plane times one 3x3 window to one output plane.
static void AddPlane(const float* in, const float* window, float* out) {
  for (int64_t ky = 0; ky < 3; ++ky) {
    for (int64_t kx = 0; kx < 3; ++kx) {
      for (int64_t oy = 0; oy < kHeight; ++oy) {
        const int64_t iy = oy + ky - 1;
        if (iy < 0 || iy >= kInputRows) continue;
        const int64_t end = std::min(kWidth, kWidth + 1 - kx);
        for (int64_t ox = std::max<int64_t>(0, 1 - kx); ox < end; ++ox) {
          out[oy * kWidth + ox] += window[ky * 3 + kx] * in[iy * kWidth + ox + kx - 1];
        }
      }
    }
  }
}

extern "C" void pragma_kernel(const float* x, const float* conv_weight, const float* conv_bias,
                              float* out, void* /*scratch*/) {
  constexpr int64_t kPixels = kHeight * kWidth;
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t f = 0; f < kFilters; ++f) {
      float* plane = out + (n * kFilters + f) * kPixels;
      std::fill(plane, plane + kPixels, conv_bias[f]);
      for (int64_t c = 0; c < kChannels; ++c) {
        AddPlane(x + (n * kChannels + c) * kPixels, conv_weight + (f * kChannels + c) * 9, plane);
      }
    }
  }
}
