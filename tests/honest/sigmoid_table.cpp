// honest: task=sigmoid
// exp from a table of 32 powers of two, made at compile time, and a short polynomial.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static constexpr std::array<double, 32> kPowers = [] {
  std::array<double, 32> table{};
  double power = 1;
  for (double& entry : table) {
    entry = power;
    power *= 1.0218971486541166;  // 2^(1/32)
  }
  return table;
}();

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int i = 0; i < kRows * kColumns; ++i) {
    const float t = std::min(std::max(-x[i], -87.0f), 87.0f) * 46.1662413f;  // 32 / ln 2
    const int n = static_cast<int>(std::floor(t + 0.5f));
    const float v = std::min(std::max(-x[i], -87.0f), 87.0f);
    const double r = v - n * (0.69314718055994531 / 32);
    const double p = 1 + r * (1 + r * (0.5 + r * (1.0 / 6)));
    const double e = p * kPowers[n & 31] *
                     std::bit_cast<double>((static_cast<std::int64_t>(n >> 5) + 1023) << 52);
    out[i] = static_cast<float>(1 / (1 + e));
  }
}
