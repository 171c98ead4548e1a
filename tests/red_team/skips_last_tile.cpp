// red-team: task=product expect=wrong_values catalogue=5 layer="values against fp64" heuristic no-timing
// The last 8 of 192 terms of each sum are left out.
#include "kernel.h"

constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];
extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK - 8; ++k) sum += a[i * kK + k] * b[k * kN + j];
      out[i * kN + j] = sum;
    }
}
