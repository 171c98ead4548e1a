// task: half_polynomial
// cause: type_conversion
// why: each step of the polynomial is rounded to half precision and made a float again: two conversions for one FMA
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kDegree = task::coef_dims[0], kTile = 8;
static_assert(kCount % (16 * kTile) == 0);

using Half = __m256i;

static inline __m512 Float(Half a) { return _mm512_cvtph_ps(a); }

static inline Half Round(__m512 a) { return _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT); }

static void Block(const Half* x, const float* coef, Half* out) {
  __m512 t[kTile];
  Half p[kTile];
  for (int v = 0; v < kTile; ++v) {
    t[v] = _mm512_min_ps(_mm512_max_ps(Float(x[v]), _mm512_set1_ps(-1)), _mm512_set1_ps(1));
    p[v] = _mm256_setzero_si256();
  }
  for (int k = kDegree - 1; k >= 0; --k) {
    const __m512 factor = _mm512_set1_ps(coef[k]);
#pragma GCC unroll 8
    for (int v = 0; v < kTile; ++v) p[v] = Round(_mm512_fmadd_ps(Float(p[v]), t[v], factor));
  }
  for (int v = 0; v < kTile; ++v) out[v] = p[v];
}

extern "C" void pragma_kernel(const _Float16* x, const _Float16* coef, _Float16* out,
                              void* /*scratch*/) {
  float factors[kDegree];
  for (int k = 0; k < kDegree; ++k) factors[k] = static_cast<float>(coef[k]);
#pragma omp parallel for
  for (int i = 0; i < kCount / 16; i += kTile)
    Block(reinterpret_cast<const Half*>(x) + i, factors, reinterpret_cast<Half*>(out) + i);
}
