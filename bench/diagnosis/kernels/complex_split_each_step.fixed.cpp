// Twin of complex_split_each_step.cpp: the points are split once, before the polynomial, and joined once after it
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kCount = task::z_dims[0], kDegree = task::coef_dims[0], kTile = 4;
static_assert(kCount % (16 * kTile) == 0);

// Sixteen complex numbers, interleaved.
struct Complex {
  __m512 low, high;
};

struct Parts {
  __m512 re, im;
};

static inline Parts Split(Complex a) {
  const __m512i even =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  return {_mm512_permutex2var_ps(a.low, even, a.high), _mm512_permutex2var_ps(a.low, odd, a.high)};
}

static inline Complex Join(Parts a) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  return {_mm512_permutex2var_ps(a.re, low, a.im), _mm512_permutex2var_ps(a.re, high, a.im)};
}

static inline Parts MultiplyAdd(Parts a, Parts b, const float* c) {
  return {_mm512_fnmadd_ps(a.im, b.im, _mm512_fmadd_ps(a.re, b.re, _mm512_set1_ps(c[0]))),
          _mm512_fmadd_ps(a.im, b.re, _mm512_fmadd_ps(a.re, b.im, _mm512_set1_ps(c[1])))};
}

static inline Complex Load(const float* z) {
  const __m512 least = _mm512_set1_ps(-0.7F), most = _mm512_set1_ps(0.7F);
  return {_mm512_min_ps(_mm512_max_ps(_mm512_load_ps(z), least), most),
          _mm512_min_ps(_mm512_max_ps(_mm512_load_ps(z + 16), least), most)};
}

static inline void Store(float* out, Complex a) {
  _mm512_store_ps(out, a.low);
  _mm512_store_ps(out + 16, a.high);
}

static void Block(const float* z, const float* coef, float* out) {
  Parts point[kTile], sum[kTile];
  for (int v = 0; v < kTile; ++v) {
    point[v] = Split(Load(z + 32 * v));
    sum[v] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  }
  for (int k = kDegree - 1; k >= 0; --k)
#pragma GCC unroll 4
    for (int v = 0; v < kTile; ++v)
      sum[v] = MultiplyAdd(sum[v], point[v], coef + 2 * k);
  for (int v = 0; v < kTile; ++v) Store(out + 32 * v, Join(sum[v]));
}

extern "C" void pragma_kernel(const float* z, const float* coef, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kCount; i += 16 * kTile) Block(z + 2 * i, coef, out + 2 * i);
}
