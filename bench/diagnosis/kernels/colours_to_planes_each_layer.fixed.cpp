// Twin of colours_to_planes_each_layer.cpp: the factors repeat every four lanes, so the pixels stay interleaved
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kPixels = task::x_dims[0], kLayers = task::scale_dims[0], kTile = 1024;
static_assert(kPixels % kTile == 0);

static inline __m512 Apply(__m512 x, __m512 scale, __m512 offset) {
  return _mm512_max_ps(_mm512_fmadd_ps(x, scale, offset), _mm512_setzero_ps());
}

static void Layer(const float* from, const float* scale, const float* offset, float* to) {
  const __m512 s = _mm512_broadcast_f32x4(_mm_loadu_ps(scale));
  const __m512 o = _mm512_broadcast_f32x4(_mm_loadu_ps(offset));
  for (int i = 0; i < 4 * kTile; i += 64) {
    const __m512 a = _mm512_load_ps(from + i), b = _mm512_load_ps(from + i + 16);
    const __m512 c = _mm512_load_ps(from + i + 32), d = _mm512_load_ps(from + i + 48);
    _mm512_store_ps(to + i, Apply(a, s, o));
    _mm512_store_ps(to + i + 16, Apply(b, s, o));
    _mm512_store_ps(to + i + 32, Apply(c, s, o));
    _mm512_store_ps(to + i + 48, Apply(d, s, o));
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
