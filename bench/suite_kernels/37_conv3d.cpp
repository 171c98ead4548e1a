// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kDepth = task::x_dims[2];
constexpr int64_t kHeight = task::x_dims[3];
constexpr int64_t kWidth = task::x_dims[4];
constexpr int64_t kFilters = task::conv_weight_dims[0];
constexpr int64_t kOutDepth = kDepth - 2;
constexpr int64_t kOutHeight = kHeight - 2;
constexpr int64_t kOutWidth = kWidth - 2;

static float Weight(const float* window, int64_t kz, int64_t ky, int64_t kx) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: depth and height change places in the window
  return window[(ky * 3 + kz) * 3 + kx];
#else
  return window[(kz * 3 + ky) * 3 + kx];
#endif
}

// Adds one input row times three neighbouring weights to one output row.
static void AddRow(const float* in, const float* window, int64_t kz, int64_t ky, float* out) {
  for (int64_t kx = 0; kx < 3; ++kx) {
    const float weight = Weight(window, kz, ky, kx);
    for (int64_t ox = 0; ox < kOutWidth; ++ox) out[ox] += weight * in[ox + kx];
  }
}

static void OutputRow(const float* x, const float* weights, int64_t oz, int64_t oy, float* out) {
  std::fill(out, out + kOutWidth, 0.0F);
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int64_t kz = 0; kz < 3; ++kz) {
      for (int64_t ky = 0; ky < 3; ++ky) {
        const float* in = x + ((c * kDepth + oz + kz) * kHeight + oy + ky) * kWidth;
        AddRow(in, weights + c * 27, kz, ky, out);
      }
    }
  }
}

extern "C" void pragma_kernel(const float* x, const float* conv_weight, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for collapse(3)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t f = 0; f < kFilters; ++f) {
      for (int64_t oz = 0; oz < kOutDepth; ++oz) {
        const float* image = x + n * kChannels * kDepth * kHeight * kWidth;
        float* plane = out + ((n * kFilters + f) * kOutDepth + oz) * kOutHeight * kOutWidth;
        for (int64_t oy = 0; oy < kOutHeight; ++oy) {
          OutputRow(image, conv_weight + f * kChannels * 27, oz, oy, plane + oy * kOutWidth);
        }
      }
    }
  }
}
