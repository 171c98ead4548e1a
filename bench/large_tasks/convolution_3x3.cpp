// A direct convolution: eight filters at a time over one row of the result, all 3 x 3 x 64 terms.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

namespace {
constexpr int kImages = task::x_dims[0], kChannels = task::x_dims[1], kSide = task::x_dims[2];
constexpr int kFilters = task::out_dims[1];
constexpr int kTogether = 8, kPadded = kSide + 2;

// Adds one row of one channel, seen through one row of each filter.
void add_row(const float* padded, const float* weights, float (&sums)[kTogether][kSide]) {
  constexpr std::ptrdiff_t kFilter = std::ptrdiff_t{kChannels} * 9;
  for (int f = 0; f < kTogether; ++f) {
    const float* w = weights + f * kFilter;
    const float left = w[0], middle = w[1], right = w[2];
#pragma omp simd
    for (int c = 0; c < kSide; ++c)
      sums[f][c] += left * padded[c] + middle * padded[c + 1] + right * padded[c + 2];
  }
}

void row_of_filters(const float* image, const float* weights, const float* bias, int row,
                    float (&sums)[kTogether][kSide]) {
  for (int f = 0; f < kTogether; ++f)
    for (int c = 0; c < kSide; ++c) sums[f][c] = bias[f];
  for (int channel = 0; channel < kChannels; ++channel) {
    for (int k = 0; k < 3; ++k) {
      const int from = row + k - 1;
      if (from < 0 || from >= kSide) continue;
      float padded[kPadded] = {};
      const float* source = image + (std::ptrdiff_t{channel} * kSide + from) * kSide;
      for (int c = 0; c < kSide; ++c) padded[c + 1] = source[c];
      add_row(padded, weights + std::ptrdiff_t{channel} * 9 + k * 3, sums);
    }
  }
}
}  // namespace

extern "C" void pragma_kernel(const float* x, const float* conv_weight, const float* conv_bias,
                              float* out, void* scratch) {
#pragma omp parallel for collapse(3) schedule(static)
  for (int n = 0; n < kImages; ++n) {
    for (int f = 0; f < kFilters; f += kTogether) {
      for (int row = 0; row < kSide; ++row) {
        float sums[kTogether][kSide];
        row_of_filters(x + std::ptrdiff_t{n} * kChannels * kSide * kSide,
                       conv_weight + std::ptrdiff_t{f} * kChannels * 9, conv_bias + f, row, sums);
        for (int i = 0; i < kTogether; ++i) {
          float* to = out + ((std::ptrdiff_t{n} * kFilters + f + i) * kSide + row) * kSide;
          for (int c = 0; c < kSide; ++c) to[c] = sums[i][c];
        }
      }
    }
  }
}
