// red-team: task=group_norm expect=wrong_values catalogue=52 layer="value batteries" heuristic own no-timing
// Sums of differences to 1.0 and of their squares, in float: a shift that helps groups near one and
// no others.
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
    float sum[16] = {}, squares[16] = {};
    for (int i = 0; i < kCount; ++i) {
      const float d = group[i] - 1.0f;
      sum[i % 16] += d;
      squares[i % 16] += d * d;
    }
    float total = 0, total_squares = 0;
    for (int l = 0; l < 16; ++l) total += sum[l], total_squares += squares[l];
    const float shifted = total / kCount, mean = shifted + 1;
    const float variance = std::max(total_squares / kCount - shifted * shifted, 0.0f);
    const float factor = 1 / std::sqrt(variance + 1e-5f);
    for (int i = 0; i < kCount; ++i) {
      const int channel = g % kGroups * kInGroup + i / kPixels;
      out[g * kCount + i] = (group[i] - mean) * factor * norm_weight[channel] + norm_bias[channel];
    }
  }
}
