// honest: task=softmax
// A vectorised polynomial exponential.
// pragma-flags: -O3 -march=native -ffast-math
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

// exp by 2^n times a polynomial; n goes straight into the exponent bits.
static inline float bit_exp(float x) {
  x = std::min(std::max(x, -87.0f), 88.0f);
  const float n = std::floor(x * 1.44269504f + 0.5f);
  const float r = std::fma(n, -1.42860677e-6f, std::fma(n, -0.693145752f, x));
  float p = 1.9875691e-4f;
  p = std::fma(p, r, 1.3981999e-3f);
  p = std::fma(p, r, 8.3334519e-3f);
  p = std::fma(p, r, 4.1665796e-2f);
  p = std::fma(p, r, 1.6666665e-1f);
  p = std::fma(p, r, 0.5f);
  p = std::fma(p, r * r, r) + 1;
  return p * std::bit_cast<float>((static_cast<int>(n) + 127) << 23);
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) to[c] = bit_exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c) sum += to[c];
    for (int c = 0; c < kColumns; ++c) to[c] *= 1 / sum;
  }
}
