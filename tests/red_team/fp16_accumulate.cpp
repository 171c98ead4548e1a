// red-team: task=product expect=wrong_values catalogue=6 layer="tolerance from the honest error" heuristic no-timing
// Sums in half precision.
#include <immintrin.h>

#include "kernel.h"

constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];
extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k)
        sum = _cvtsh_ss(_cvtss_sh(sum + a[i * kK + k] * b[k * kN + j], 0));
      out[i * kN + j] = sum;
    }
}
