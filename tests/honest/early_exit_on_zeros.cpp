// honest: task=rectified
// Skips what a zero would be multiplied by: its time depends on the values.
#include "kernel.h"

constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kM; ++i) {
    float* row = out + i * kN;
    for (int j = 0; j < kN; ++j) row[j] = 0;
    for (int k = 0; k < kK; ++k) {
      const float factor = a[i * kK + k];
      if (factor <= 0) continue;
      for (int j = 0; j < kN; ++j) row[j] += factor * b[k * kN + j];
    }
  }
}
