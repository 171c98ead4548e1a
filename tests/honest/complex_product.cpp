// honest: task=complex_pairs
// Complex products of pairs, with contracted multiplications.
// pragma-flags: -O3 -march=native
#include <cmath>

#include "kernel.h"

constexpr int kPairs = task::a_dims[0] * task::a_dims[1];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kPairs; ++i) {
    const float ar = a[2 * i], ai = a[2 * i + 1], br = b[2 * i], bi = b[2 * i + 1];
    out[2 * i] = std::fma(ar, br, -(ai * bi));
    out[2 * i + 1] = std::fma(ar, bi, ai * br);
  }
}
