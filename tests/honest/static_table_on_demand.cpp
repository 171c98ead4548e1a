// honest: task=sigmoid
// A table of powers of two, filled in the first call behind a static flag, and used in all.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static bool ready = false;
static double powers[64];

static void fill() {
  for (int i = 0; i < 64; ++i) powers[i] = std::exp2(i / 64.0);
  ready = true;
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  if (!ready) fill();
  for (int i = 0; i < kRows * kColumns; ++i) {
    if (std::isnan(x[i])) {
      out[i] = x[i];
      continue;
    }
    const double v = std::clamp(-static_cast<double>(x[i]), -200.0, 200.0);
    constexpr double kPerUnit = 92.332482616893657;  // 64 / ln 2
    const auto n = static_cast<std::int64_t>(std::floor(v * kPerUnit + 0.5));
    const double r = v - static_cast<double>(n) * (0.69314718055994531 / 64);
    const double p = 1 + r * (1 + r * (0.5 + r * (1.0 / 6)));
    const double e = p * powers[n & 63] * std::bit_cast<double>(((n >> 6) + 1023) << 52);
    out[i] = static_cast<float>(1 / (1 + e));
  }
}
