// Twin of unit_vectors_divide.cpp: the reciprocal length from the estimate and one Newton step, then products.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kBlock = 2048;

static void Block(const float* __restrict x, const float* __restrict y, const float* __restrict z,
                  float* __restrict u, float* __restrict v, float* __restrict w) {
  const __m512 half = _mm512_set1_ps(0.5F), three_halves = _mm512_set1_ps(1.5F);
  for (int i = 0; i < kBlock; i += 16) {
    const __m512 a = _mm512_load_ps(x + i), b = _mm512_load_ps(y + i), c = _mm512_load_ps(z + i);
    __m512 square = _mm512_fmadd_ps(a, a, _mm512_set1_ps(1e-6F));
    square = _mm512_fmadd_ps(c, c, _mm512_fmadd_ps(b, b, square));
    __m512 inverse = _mm512_rsqrt14_ps(square);
    const __m512 correction =
        _mm512_mul_ps(_mm512_mul_ps(half, square), _mm512_mul_ps(inverse, inverse));
    inverse = _mm512_mul_ps(inverse, _mm512_sub_ps(three_halves, correction));
    _mm512_store_ps(u + i, _mm512_mul_ps(a, inverse));
    _mm512_store_ps(v + i, _mm512_mul_ps(b, inverse));
    _mm512_store_ps(w + i, _mm512_mul_ps(c, inverse));
  }
}

extern "C" void pragma_kernel(const float* x, const float* y, const float* z, float* out_0,
                              float* out_1, float* out_2, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kCount; i += kBlock)
    Block(x + i, y + i, z + i, out_0 + i, out_1 + i, out_2 + i);
}
