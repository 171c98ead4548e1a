// honest: task=softmax
// An exponential of its own that is right in the relative sense also for small results.
#include <bit>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

// Good to two units in the last place also where the result is small; denormal results are zero.
static inline float exponential(float v) {
  if (!(v >= -87.3f)) return v != v ? v : 0;
  v = v > 88.7f ? 88.7f : v;
  const float n = std::floor(v * 1.44269504f + 0.5f);
  float r = v - n * 0.693359375f;
  r -= n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1;
  const auto e = static_cast<std::int32_t>(n);
  const auto half = std::bit_cast<float>((e / 2 + 127) << 23);
  return p * half * std::bit_cast<float>((e - e / 2 + 127) << 23);
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c)
      if (!(row[c] <= top)) top = row[c];
    for (int c = 0; c < kColumns; ++c) sum += to[c] = exponential(row[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}
