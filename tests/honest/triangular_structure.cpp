// honest: task=triangular
// Leaves out the half that the operator itself sets to zero.
#include "kernel.h"

constexpr int kM = task::a_dims[0], kN = task::b_dims[1];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kM; ++i) {
    float* row = out + i * kN;
    for (int j = 0; j < kN; ++j) row[j] = 0;
    for (int k = 0; k <= i; ++k)
      for (int j = 0; j < kN; ++j) row[j] += a[i * kM + k] * b[k * kN + j];
  }
}
