// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kHeight = task::x_dims[2];
constexpr int64_t kWidth = task::x_dims[3];
constexpr int64_t kFilters = task::conv_weight_dims[0];
constexpr int64_t kGroups = 4;
constexpr int64_t kStride = 2;
constexpr int64_t kDilation = 2;
constexpr int64_t kPadding = 2;
constexpr int64_t kGroupChannels = kChannels / kGroups;
constexpr int64_t kGroupFilters = kFilters / kGroups;
constexpr int64_t kOutHeight = (kHeight + 2 * kPadding - 2 * kDilation - 1) / kStride + 1;
constexpr int64_t kOutWidth = (kWidth + 2 * kPadding - 2 * kDilation - 1) / kStride + 1;
#if defined(PRAGMA_BUG)  // bug: wrong stride: input groups are stepped by the filters of a group
constexpr int64_t kGroupStride = kGroupFilters;
#else
constexpr int64_t kGroupStride = kGroupChannels;
#endif

// `in`: the first channel of the filter's group.
static float Pixel(const float* in, const float* weights, int64_t oy, int64_t ox) {
  float sum = 0;
  for (int64_t c = 0; c < kGroupChannels; ++c) {
    for (int64_t ky = 0; ky < 3; ++ky) {
      const int64_t iy = oy * kStride - kPadding + ky * kDilation;
      if (iy < 0 || iy >= kHeight) continue;
      for (int64_t kx = 0; kx < 3; ++kx) {
        const int64_t ix = ox * kStride - kPadding + kx * kDilation;
        if (ix < 0 || ix >= kWidth) continue;
        sum += weights[(c * 3 + ky) * 3 + kx] * in[(c * kHeight + iy) * kWidth + ix];
      }
    }
  }
  return sum;
}

extern "C" void pragma_kernel(const float* x, const float* conv_weight, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t f = 0; f < kFilters; ++f) {
      const int64_t channel = f / kGroupFilters * kGroupStride;
      const float* in = x + (n * kChannels + channel) * kHeight * kWidth;
      const float* weights = conv_weight + f * kGroupChannels * 9;
      float* plane = out + (n * kFilters + f) * kOutHeight * kOutWidth;
      for (int64_t oy = 0; oy < kOutHeight; ++oy) {
        for (int64_t ox = 0; ox < kOutWidth; ++ox) {
          plane[oy * kOutWidth + ox] = Pixel(in, weights, oy, ox);
        }
      }
    }
  }
}
