// honest: task=lower
// A table filled by a constructor, before the first call.
#include "kernel.h"

constexpr int kN = task::m_dims[0];
struct Lengths {
  int of[kN];
  Lengths() {
    for (int r = 0; r < kN; ++r) of[r] = r;
  }
};
static const Lengths kLength;

extern "C" void pragma_kernel(const float* m, const float* v, float* out, void* scratch) {
  for (int r = 0; r < kN; ++r) {
    float sum = 0;
    for (int c = 0; c < kLength.of[r]; ++c) sum += m[r * kN + c] * v[c];
    out[r] = sum;
  }
}
