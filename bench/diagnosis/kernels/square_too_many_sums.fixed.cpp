// Twin of square_too_many_sums.cpp: six rows fit: 24 sums, four vectors of the right side and one of the left.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kSize = task::a_dims[0], kTileRows = 6, kTileVectors = 4;
static_assert(kSize % kTileRows == 0 && kSize % (16 * kTileVectors) == 0);

static void Tile(const float* a, const float* b, float* out) {
  __m512 sums[kTileRows][kTileVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i)
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) sums[i][v] = _mm512_setzero_ps();
  for (int k = 0; k < kSize; ++k) {
    __m512 right[kTileVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) right[v] = _mm512_load_ps(b + k * kSize + 16 * v);
#pragma GCC unroll 16
    for (int i = 0; i < kTileRows; ++i) {
      const __m512 left = _mm512_set1_ps(a[i * kSize + k]);
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v)
        sums[i][v] = _mm512_fmadd_ps(left, right[v], sums[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i)
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) _mm512_store_ps(out + i * kSize + 16 * v, sums[i][v]);
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int j = 0; j < kSize; j += 16 * kTileVectors)
    for (int i = 0; i < kSize; i += kTileRows) Tile(a + i * kSize, b + j, out + i * kSize + j);
}
