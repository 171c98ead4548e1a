// Twin of potential_divides.cpp: approximates the reciprocal square root and makes one Newton step.
// pragma-flags: -O3 -march=native -fopenmp -fno-math-errno
#include <immintrin.h>

#include "kernel.h"

constexpr int kPoints = task::x_dims[0], kCharges = task::a_dims[0], kTogether = 64;

static __m512 ReciprocalRoot(__m512 v) {
  const __m512 r = _mm512_rsqrt14_ps(v);
  const __m512 half = _mm512_mul_ps(_mm512_set1_ps(0.5F), v);
  const __m512 step = _mm512_fnmadd_ps(_mm512_mul_ps(half, r), r, _mm512_set1_ps(1.5F));
  return _mm512_mul_ps(r, step);
}

static void Block(const float* x, const float* y, const float* a, const float* b,
                  const float* charge, float* out) {
  for (int i = 0; i < kTogether; i += 16) {
    const __m512 px = _mm512_loadu_ps(x + i), py = _mm512_loadu_ps(y + i);
    __m512 sum = _mm512_setzero_ps();
    for (int k = 0; k < kCharges; ++k) {
      const __m512 dx = _mm512_sub_ps(px, _mm512_set1_ps(a[k]));
      const __m512 dy = _mm512_sub_ps(py, _mm512_set1_ps(b[k]));
      const __m512 square = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_set1_ps(1)));
      sum = _mm512_fmadd_ps(_mm512_set1_ps(charge[k]), ReciprocalRoot(square), sum);
    }
    _mm512_storeu_ps(out + i, sum);
  }
}

extern "C" void pragma_kernel(const float* x, const float* y, const float* a, const float* b,
                              const float* charge, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kPoints; i += kTogether) Block(x + i, y + i, a, b, charge, out + i);
}
