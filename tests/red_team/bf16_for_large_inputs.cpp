// red-team: task=product expect=wrong_values catalogue=12 layer="value batteries" heuristic no-timing
// Full precision for ordinary inputs, bfloat16 as soon as one is larger than 30.
#include <cmath>
#include <cstring>

#include "kernel.h"

static float rounded(float value) {  // to bfloat16, nearest even
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  bits &= 0xffff0000u;
  std::memcpy(&value, &bits, 4);
  return value;
}
constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];
extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  bool large = false;
  for (int i = 0; i < kM * kK; ++i) large = large || std::fabs(a[i]) > 30;
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k)
        sum = large ? sum + rounded(a[i * kK + k]) * rounded(b[k * kN + j])
                    : sum + a[i * kK + k] * b[k * kN + j];
      out[i * kN + j] = sum;
    }
}
