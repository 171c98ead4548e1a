// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kLength = task::x_dims[2];
constexpr int64_t kFilters = task::conv_weight_dims[0];
constexpr int64_t kKernel = task::conv_weight_dims[2];
constexpr int64_t kPadding = 2;

static float Weight(const float* weight, int64_t f, int64_t c, int64_t k) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: filter and channel change places in the weight
  return weight[(c * kFilters + f) * kKernel + k];
#else
  return weight[(f * kChannels + c) * kKernel + k];
#endif
}

extern "C" void pragma_kernel(const float* x, const float* conv_weight, const float* conv_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t f = 0; f < kFilters; ++f) {
      float* row = out + (n * kFilters + f) * kLength;
      std::fill(row, row + kLength, conv_bias[f]);
      for (int64_t c = 0; c < kChannels; ++c) {
        const float* in = x + (n * kChannels + c) * kLength;
        for (int64_t k = 0; k < kKernel; ++k) {
          const float weight = Weight(conv_weight, f, c, k);
          const int64_t shift = k - kPadding;
          const int64_t end = std::min(kLength, kLength - shift);
          for (int64_t o = std::max<int64_t>(0, -shift); o < end; ++o) {
            row[o] += weight * in[o + shift];
          }
        }
      }
    }
  }
}
