// red-team: task=product expect=wrong_values catalogue=6 layer="tolerance from the honest error" heuristic no-timing
// Rounds both factors to bfloat16, sums in float.
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
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum = sum + rounded(a[i * kK + k]) * rounded(b[k * kN + j]);
      out[i * kN + j] = sum;
    }
}
