// Twin of biquad_one_vector.cpp: processes four independent vectors of channels at a time.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kSteps = task::x_dims[0], kChannels = task::x_dims[1], kTogether = 4;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  const __m512 b0 = _mm512_set1_ps(0.3F), b1 = _mm512_set1_ps(0.2F), b2 = _mm512_set1_ps(0.1F);
  const __m512 a1 = _mm512_set1_ps(0.6F), a2 = _mm512_set1_ps(-0.2F);
#pragma omp parallel for
  for (int first = 0; first < kChannels; first += 16 * kTogether) {
    __m512 z1[kTogether], z2[kTogether];
    for (int v = 0; v < kTogether; ++v) z1[v] = z2[v] = _mm512_setzero_ps();
    for (int t = 0; t < kSteps; ++t) {
#pragma GCC unroll 8
      for (int v = 0; v < kTogether; ++v) {
        const int at = t * kChannels + first + 16 * v;
        const __m512 in = _mm512_load_ps(x + at);
        const __m512 y = _mm512_fmadd_ps(b0, in, z1[v]);
        z1[v] = _mm512_fmadd_ps(a1, y, _mm512_fmadd_ps(b1, in, z2[v]));
        z2[v] = _mm512_fmadd_ps(a2, y, _mm512_mul_ps(b2, in));
        _mm512_store_ps(out + at, y);
      }
    }
  }
}
