// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kPixels = task::x_dims[2] * task::x_dims[3];
constexpr int64_t kGroups = 6;
constexpr int64_t kChannelsPerGroup = kChannels / kGroups;
constexpr int64_t kGroupSize = kChannelsPerGroup * kPixels;
#if defined(PRAGMA_BUG)  // bug: wrong stride: parameters are stepped by the number of groups
constexpr int64_t kParameterStride = kGroups;
#else
constexpr int64_t kParameterStride = kChannelsPerGroup;
#endif

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t g = 0; g < kGroups; ++g) {
      const int64_t start = (n * kGroups + g) * kGroupSize;
      double sum = 0;
      for (int64_t p = 0; p < kGroupSize; ++p) sum += x[start + p];
      const double mean = sum / kGroupSize;
      double squares = 0;
      for (int64_t p = 0; p < kGroupSize; ++p) {
        squares += (x[start + p] - mean) * (x[start + p] - mean);
      }
      const double scale = 1 / std::sqrt(squares / kGroupSize + 1e-5);
      for (int64_t p = 0; p < kGroupSize; ++p) {
        const int64_t channel = g * kParameterStride + p / kPixels;
        const double normal = (x[start + p] - mean) * scale;
        out[start + p] = static_cast<float>(normal * norm_weight[channel] + norm_bias[channel]);
      }
    }
  }
}
