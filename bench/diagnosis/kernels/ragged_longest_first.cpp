// task: ragged_polynomial
// cause: imbalance
// why: rows sorted by length, as batches often are, in two halves: the first thread gets three quarters of the elements
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kDegree = task::coef_dims[0];

// The polynomial of `length` elements, summed; eight vectors at a time.
static float Row(const float* x, int length, const float* coef) {
  __m512 sums[8];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  for (int c = 0; c < length; c += 128) {
    __m512 t[8], p[8];
    __mmask16 kept[8];
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) {
      const int rest = length - c - 16 * v;
      kept[v] = rest >= 16 ? 0xFFFF : rest <= 0 ? 0 : (1 << rest) - 1;
      t[v] = _mm512_maskz_loadu_ps(kept[v], x + c + 16 * v);
      t[v] = _mm512_max_ps(_mm512_min_ps(t[v], _mm512_set1_ps(1)), _mm512_set1_ps(-1));
      p[v] = _mm512_setzero_ps();
    }
    for (int k = kDegree - 1; k >= 0; --k) {
      const __m512 factor = _mm512_set1_ps(coef[k]);
#pragma GCC unroll 8
      for (int v = 0; v < 8; ++v) p[v] = _mm512_fmadd_ps(p[v], t[v], factor);
    }
#pragma GCC unroll 8
    for (int v = 0; v < 8; ++v) sums[v] = _mm512_mask_add_ps(sums[v], kept[v], sums[v], p[v]);
  }
  for (int v = 1; v < 8; ++v) sums[0] = _mm512_add_ps(sums[0], sums[v]);
  return _mm512_reduce_add_ps(sums[0]);
}

extern "C" void pragma_kernel(const float* x, const std::int64_t* lengths, const float* coef,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t length = lengths[r] < 0 ? 0 : lengths[r] > kColumns ? kColumns : lengths[r];
    out[r] = Row(x + r * kColumns, length, coef);
  }
}
