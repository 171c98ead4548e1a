// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kLength = task::x_dims[2];
constexpr int64_t kFilters = task::up_weight_dims[1];  // stored as channels, filters, kernel
constexpr int64_t kKernel = task::up_weight_dims[2];
constexpr int64_t kStride = 2;
constexpr int64_t kPadding = 1;
constexpr int64_t kOutLength = (kLength - 1) * kStride - 2 * kPadding + kKernel;
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the window's last weight is not used
constexpr int64_t kWeights = kKernel - 1;
#else
constexpr int64_t kWeights = kKernel;
#endif

extern "C" void pragma_kernel(const float* x, const float* up_weight, const float* up_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t f = 0; f < kFilters; ++f) {
      float* row = out + (n * kFilters + f) * kOutLength;
      std::fill(row, row + kOutLength, up_bias[f]);
      for (int64_t c = 0; c < kChannels; ++c) {
        const float* in = x + (n * kChannels + c) * kLength;
        const float* weight = up_weight + (c * kFilters + f) * kKernel;
        for (int64_t k = 0; k < kWeights; ++k) {
          for (int64_t i = 0; i < kLength; ++i) {
            const int64_t o = i * kStride - kPadding + k;
            if (o >= 0 && o < kOutLength) row[o] += weight[k] * in[i];
          }
        }
      }
    }
  }
}
