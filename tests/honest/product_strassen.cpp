// honest: task=square
// One level of Strassen.
#include <cstring>
#include <vector>

#include "kernel.h"

constexpr int kN = task::a_dims[0];
constexpr int kH = kN / 2, kQuarter = kH * kH;

static void combine(const float* x, const float* y, float sign, float* to) {
  for (int i = 0; i < kH; ++i)
    for (int j = 0; j < kH; ++j)
      to[i * kH + j] = x[i * kN + j] + (y != nullptr ? sign * y[i * kN + j] : 0.0f);
}

static void multiply(const float* x, const float* y, float* to) {
  std::memset(to, 0, sizeof(float) * kQuarter);
  for (int i = 0; i < kH; ++i)
    for (int k = 0; k < kH; ++k)
      for (int j = 0; j < kH; ++j) to[i * kH + j] += x[i * kH + k] * y[k * kH + j];
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  static thread_local std::vector<float> room;
  room.resize(9 * kQuarter);  // seven products and two sums
  float* m = room.data();
  float* s = m + 7 * kQuarter;
  float* t = s + kQuarter;
  const float *a11 = a, *a12 = a + kH, *a21 = a + kH * kN, *a22 = a21 + kH;
  const float *b11 = b, *b12 = b + kH, *b21 = b + kH * kN, *b22 = b21 + kH;
  combine(a11, a22, 1, s), combine(b11, b22, 1, t), multiply(s, t, m);
  combine(a21, a22, 1, s), combine(b11, nullptr, 0, t), multiply(s, t, m + kQuarter);
  combine(a11, nullptr, 0, s), combine(b12, b22, -1, t), multiply(s, t, m + 2 * kQuarter);
  combine(a22, nullptr, 0, s), combine(b21, b11, -1, t), multiply(s, t, m + 3 * kQuarter);
  combine(a11, a12, 1, s), combine(b22, nullptr, 0, t), multiply(s, t, m + 4 * kQuarter);
  combine(a21, a11, -1, s), combine(b11, b12, 1, t), multiply(s, t, m + 5 * kQuarter);
  combine(a12, a22, -1, s), combine(b21, b22, 1, t), multiply(s, t, m + 6 * kQuarter);
  for (int i = 0; i < kH; ++i)
    for (int j = 0; j < kH; ++j) {
      const float* p = m + i * kH + j;
      float* to = out + i * kN + j;
      const float m1 = p[0], m2 = p[kQuarter], m3 = p[2 * kQuarter], m4 = p[3 * kQuarter];
      to[0] = m1 + m4 - p[4 * kQuarter] + p[6 * kQuarter];
      to[kH] = m3 + p[4 * kQuarter];
      to[kH * kN] = m2 + m4;
      to[kH * kN + kH] = m1 - m2 + m3 + p[5 * kQuarter];
    }
}
