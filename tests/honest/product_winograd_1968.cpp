// honest: task=square
// Winograd's inner product: half the multiplications, and rounding errors of the size of both
// factors together.
#include "kernel.h"

constexpr int kN = task::a_dims[0];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  float rows[kN], columns[kN] = {};
  for (int i = 0; i < kN; ++i) {
    rows[i] = 0;
    for (int k = 0; k < kN; k += 2) rows[i] += a[i * kN + k] * a[i * kN + k + 1];
  }
  for (int k = 0; k < kN; k += 2)
    for (int j = 0; j < kN; ++j) columns[j] += b[k * kN + j] * b[(k + 1) * kN + j];
  for (int i = 0; i < kN; ++i) {
    float sum[kN];
    for (int j = 0; j < kN; ++j) sum[j] = -rows[i] - columns[j];
    for (int k = 0; k < kN; k += 2) {
      const float even = a[i * kN + k], odd = a[i * kN + k + 1];
      for (int j = 0; j < kN; ++j) sum[j] += (even + b[(k + 1) * kN + j]) * (odd + b[k * kN + j]);
    }
    for (int j = 0; j < kN; ++j) out[i * kN + j] = sum[j];
  }
}
