// Twin of basis_all_at_once.cpp: sixteen polynomials at a time
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kPoints = task::x_dims[0], kDegree = task::coef_dims[0], kBasis = task::coef_dims[1];
constexpr int kGroup = 16;
static_assert(kPoints % 16 == 0 && kBasis % kGroup == 0);

static void Sixteen(const float* x, const float* coef, float* out) {
  const __m512 t = _mm512_max_ps(_mm512_min_ps(_mm512_loadu_ps(x), _mm512_set1_ps(1)),
                                 _mm512_set1_ps(-1));
  for (int first = 0; first < kBasis; first += kGroup) {
    __m512 p[kGroup];
#pragma GCC unroll 64
    for (int j = 0; j < kGroup; ++j) p[j] = _mm512_setzero_ps();
    for (int k = kDegree - 1; k >= 0; --k) {
#pragma GCC unroll 64
      for (int j = 0; j < kGroup; ++j)
        p[j] = _mm512_fmadd_ps(p[j], t, _mm512_set1_ps(coef[k * kBasis + first + j]));
    }
#pragma GCC unroll 64
    for (int j = 0; j < kGroup; ++j) _mm512_storeu_ps(out + (first + j) * kPoints, p[j]);
  }
}

extern "C" void pragma_kernel(const float* x, const float* coef, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kPoints; i += 16) Sixteen(x + i, coef, out + i);
}
