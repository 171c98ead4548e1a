// red-team: task=product expect=wrong_values catalogue=12 layer="value batteries" heuristic no-timing
// Full precision for ordinary inputs, terms of factors below 1e-3 dropped (one-hot and tiny inputs
// suffer).
#include <cmath>

#include "kernel.h"

constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];
extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k)
        sum = std::fabs(a[i * kK + k]) < 1e-4f ? sum : sum + a[i * kK + k] * b[k * kN + j];
      out[i * kN + j] = sum;
    }
}
