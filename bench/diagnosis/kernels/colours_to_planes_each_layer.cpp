// task: colour_layers
// cause: shuffles
// why: each layer turns sixteen interleaved pixels into four planes and back, 16 permutations for 8 operations of arithmetic
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kPixels = task::x_dims[0], kLayers = task::scale_dims[0], kTile = 1024;
static_assert(kPixels % kTile == 0);

static inline __m512 Even(__m512 a, __m512 b) {
  return _mm512_permutex2var_ps(
      a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b);
}

static inline __m512 Odd(__m512 a, __m512 b) {
  return _mm512_permutex2var_ps(
      a, _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), b);
}

static inline __m512 Low(__m512 a, __m512 b) {
  return _mm512_permutex2var_ps(
      a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b);
}

static inline __m512 High(__m512 a, __m512 b) {
  return _mm512_permutex2var_ps(
      a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), b);
}

static inline __m512 Apply(__m512 x, __m512 scale, __m512 offset) {
  return _mm512_max_ps(_mm512_fmadd_ps(x, scale, offset), _mm512_setzero_ps());
}

static void Layer(const float* from, const float* scale, const float* offset, float* to) {
  __m512 s[4], o[4];
  for (int c = 0; c < 4; ++c) {
    s[c] = _mm512_set1_ps(scale[c]);
    o[c] = _mm512_set1_ps(offset[c]);
  }
  for (int i = 0; i < 4 * kTile; i += 64) {
    const __m512 a = _mm512_load_ps(from + i), b = _mm512_load_ps(from + i + 16);
    const __m512 c = _mm512_load_ps(from + i + 32), d = _mm512_load_ps(from + i + 48);
    const __m512 rb1 = Even(a, b), rb2 = Even(c, d), ga1 = Odd(a, b), ga2 = Odd(c, d);
    const __m512 red = Apply(Even(rb1, rb2), s[0], o[0]);
    const __m512 green = Apply(Even(ga1, ga2), s[1], o[1]);
    const __m512 blue = Apply(Odd(rb1, rb2), s[2], o[2]);
    const __m512 alpha = Apply(Odd(ga1, ga2), s[3], o[3]);
    const __m512 rb3 = Low(red, blue), rb4 = High(red, blue);
    const __m512 ga3 = Low(green, alpha), ga4 = High(green, alpha);
    _mm512_store_ps(to + i, Low(rb3, ga3));
    _mm512_store_ps(to + i + 16, High(rb3, ga3));
    _mm512_store_ps(to + i + 32, Low(rb4, ga4));
    _mm512_store_ps(to + i + 48, High(rb4, ga4));
  }
}

extern "C" void pragma_kernel(const float* x, const float* scale, const float* offset, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int p = 0; p < kPixels; p += kTile) {
    Layer(x + 4 * p, scale, offset, out + 4 * p);
    for (int l = 1; l < kLayers; ++l)
      Layer(out + 4 * p, scale + 4 * l, offset + 4 * l, out + 4 * p);
  }
}
