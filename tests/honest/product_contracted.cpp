// honest: task=square
// Fused multiply-adds by the compiler.
// pragma-flags: -O3 -march=native -ffp-contract=fast
#include "kernel.h"

constexpr int kN = task::a_dims[0];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kN; ++k) sum += a[i * kN + k] * b[k * kN + j];
      out[i * kN + j] = sum;
    }
}
