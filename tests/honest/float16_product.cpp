// honest: task=product_float16
// Half precision in and out, sums in float.
#include "kernel.h"

constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];

extern "C" void pragma_kernel(const _Float16* a, const _Float16* b, _Float16* out, void* scratch) {
  for (int i = 0; i < kM; ++i) {
    float sum[kN] = {};
    for (int k = 0; k < kK; ++k) {
      const auto factor = static_cast<float>(a[i * kK + k]);
      for (int j = 0; j < kN; ++j) sum[j] += factor * static_cast<float>(b[k * kN + j]);
    }
    for (int j = 0; j < kN; ++j) out[i * kN + j] = static_cast<_Float16>(sum[j]);
  }
}
