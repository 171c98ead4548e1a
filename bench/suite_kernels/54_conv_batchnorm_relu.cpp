// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kHeight = task::x_dims[2];
constexpr int64_t kWidth = task::x_dims[3];
constexpr int64_t kPixels = kHeight * kWidth;
constexpr int64_t kFilters = task::conv_weight_dims[0];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the window's last column is not used
constexpr int64_t kKernelColumns = 2;
#else
constexpr int64_t kKernelColumns = 3;
#endif

// Adds one input plane times one 3x3 window to one output plane.
static void AddPlane(const float* in, const float* window, float* out) {
  for (int64_t ky = 0; ky < 3; ++ky) {
    for (int64_t kx = 0; kx < kKernelColumns; ++kx) {
      for (int64_t oy = 0; oy < kHeight; ++oy) {
        const int64_t iy = oy + ky - 1;
        if (iy < 0 || iy >= kHeight) continue;
        const int64_t end = std::min(kWidth, kWidth + 1 - kx);
        for (int64_t ox = std::max<int64_t>(0, 1 - kx); ox < end; ++ox) {
          out[oy * kWidth + ox] += window[ky * 3 + kx] * in[iy * kWidth + ox + kx - 1];
        }
      }
    }
  }
}

// Convolves every image with one filter.
static void Convolve(const float* x, const float* weights, int64_t f, float* out) {
  for (int64_t n = 0; n < kBatch; ++n) {
    float* plane = out + (n * kFilters + f) * kPixels;
    std::fill(plane, plane + kPixels, 0.0F);
    for (int64_t c = 0; c < kChannels; ++c) {
      AddPlane(x + (n * kChannels + c) * kPixels, weights + (f * kChannels + c) * 9, plane);
    }
  }
}

// Normalises one filter's planes by their own statistics, and rectifies.
static void Normalise(float gain, float bias, int64_t f, float* out) {
  double sum = 0;
  double squares = 0;
  for (int64_t n = 0; n < kBatch; ++n) {
    const float* plane = out + (n * kFilters + f) * kPixels;
    for (int64_t p = 0; p < kPixels; ++p) {
      sum += plane[p];
      squares += static_cast<double>(plane[p]) * plane[p];
    }
  }
  const double mean = sum / (kBatch * kPixels);
  const double scale = gain / std::sqrt(squares / (kBatch * kPixels) - mean * mean + 1e-5);
  for (int64_t n = 0; n < kBatch; ++n) {
    float* plane = out + (n * kFilters + f) * kPixels;
    for (int64_t p = 0; p < kPixels; ++p) {
      plane[p] = static_cast<float>(std::max(0.0, (plane[p] - mean) * scale + bias));
    }
  }
}

// The running statistics are buffers of the module; their update is no output.
extern "C" void pragma_kernel(const float* x, const float* conv_weight, const float* norm_weight,
                              const float* norm_bias, const float* /*norm_running_mean*/,
                              const float* /*norm_running_var*/,
                              const int64_t* /*norm_num_batches_tracked*/, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t f = 0; f < kFilters; ++f) {
    Convolve(x, conv_weight, f, out);
    Normalise(norm_weight[f], norm_bias[f], f, out);
  }
}
