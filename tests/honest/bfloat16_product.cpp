// honest: task=product_bfloat16
// bfloat16 in and out, sums in float, the second factor widened once into scratch.
#include "kernel.h"

constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];
extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kK * kN;

extern "C" void pragma_kernel(const pragma_bf16* a, const pragma_bf16* b, pragma_bf16* out,
                              void* scratch) {
  auto wide = static_cast<float*>(scratch);
  for (int i = 0; i < kK * kN; ++i) wide[i] = pragma_bf16_to_float(b[i]);
  for (int i = 0; i < kM; ++i) {
    float sum[kN] = {};
    for (int k = 0; k < kK; ++k) {
      const float factor = pragma_bf16_to_float(a[i * kK + k]);
      for (int j = 0; j < kN; ++j) sum[j] += factor * wide[k * kN + j];
    }
    for (int j = 0; j < kN; ++j) out[i * kN + j] = pragma_float_to_bf16(sum[j]);
  }
}
