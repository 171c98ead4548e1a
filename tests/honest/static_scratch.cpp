// honest: task=square
// A static buffer for the transposed factor, filled anew in each call.
#include "kernel.h"

constexpr int kN = task::a_dims[0];

static void product(const float* a, const float* columns, float* out) {
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kN; ++k) sum += a[i * kN + k] * columns[j * kN + k];
      out[i * kN + j] = sum;
    }
}

static void transpose(const float* b, float* columns) {
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) columns[j * kN + i] = b[i * kN + j];
}

alignas(64) static float columns[kN * kN];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  transpose(b, columns);
  product(a, columns, out);
}
