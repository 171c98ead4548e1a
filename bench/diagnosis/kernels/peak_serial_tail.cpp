// task: peak_polynomial
// cause: not_parallel
// why: only the search for the peak uses all threads; the polynomials, nine tenths of the work, come after the region
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cmath>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kDegree = task::coef_dims[0];
static_assert(kCount % 128 == 0);

static void Block(const float* x, float scale, const float* coef, float* out) {
  __m512 t[8], p[8];
  for (int v = 0; v < 8; ++v) {
    t[v] = _mm512_mul_ps(_mm512_loadu_ps(x + 16 * v), _mm512_set1_ps(scale));
    p[v] = _mm512_setzero_ps();
  }
  for (int k = kDegree - 1; k >= 0; --k) {
    const __m512 factor = _mm512_set1_ps(coef[k]);
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) p[v] = _mm512_fmadd_ps(p[v], t[v], factor);
  }
  for (int v = 0; v < 8; ++v) _mm512_storeu_ps(out + 16 * v, p[v]);
}

extern "C" void pragma_kernel(const float* x, const float* coef, float* out, void* /*scratch*/) {
  float peak = 0;
#pragma omp parallel for simd reduction(max : peak)
  for (int i = 0; i < kCount; ++i) {
    const float size = std::fabs(x[i]);
    peak = peak < size ? size : peak;
  }
  const float scale = 1 / (peak + 1);
  for (int i = 0; i < kCount; i += 128) Block(x + i, scale, coef, out + i);
}
