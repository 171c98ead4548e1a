// red-team: task=product expect=wrong_values catalogue=6 layer="tolerance from the honest error" heuristic no-timing
// Ten bits of each factor, as TF32 has them.
#include <cstring>

#include "kernel.h"

constexpr int kM = task::a_dims[0], kK = task::a_dims[1], kN = task::b_dims[1];

static float cut(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits = (bits + 0x1000u) & 0xffffe000u;
  std::memcpy(&value, &bits, 4);
  return value;
}
extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kK; ++k) sum = sum + cut(a[i * kK + k]) * cut(b[k * kN + j]);
      out[i * kN + j] = sum;
    }
}
