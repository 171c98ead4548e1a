// honest: task=group_norm
// Sums of numbers and of squares, in double precision.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kImages = task::x_dims[0], kChannels = task::x_dims[1];
constexpr int kPixels = task::x_dims[2] * task::x_dims[3];
constexpr int kGroups = 8, kInGroup = kChannels / kGroups, kCount = kInGroup * kPixels;

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* scratch) {
  for (int g = 0; g < kImages * kGroups; ++g) {
    const float* group = x + g * kCount;
    double sum = 0, squares = 0;
    for (int i = 0; i < kCount; ++i) {
      const double value = group[i];
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kCount;
    const double variance = std::max(squares / kCount - mean * mean, 0.0);
    const double factor = 1 / std::sqrt(variance + 1e-5);
    for (int i = 0; i < kCount; ++i) {
      const int channel = g % kGroups * kInGroup + i / kPixels;
      out[g * kCount + i] = static_cast<float>((group[i] - mean) * factor * norm_weight[channel] +
                                               norm_bias[channel]);
    }
  }
}
