// Twin of window_bias_gather.cpp: the eight biases of a row of tokens are loaded as they lie.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kWindows = task::scores_dims[0], kHeads = task::table_dims[0], kTokens = task::scores_dims[1];
constexpr int kSide = 8, kTable = (2 * kSide - 1) * (2 * kSide - 1);
static_assert(kTokens == kSide * kSide);

// The biases of token i for tokens j to j + 7.
static __m256 Biases(const float* table, int i, int j) {
  const int index = (j / kSide - i / kSide + kSide - 1) * (2 * kSide - 1) - i % kSide + kSide - 1;
  return _mm256_loadu_ps(table + index);
}

static float Sum(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

extern "C" void pragma_kernel(const float* scores, const float* table, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int w = 0; w < kWindows; ++w)
    for (int h = 0; h < kHeads; ++h)
      for (int i = 0; i < kTokens; ++i) {
        __m256 sum = _mm256_setzero_ps();
#pragma GCC unroll 8
        for (int j = 0; j < kTokens; j += kSide) {
          const __m256 score = _mm256_loadu_ps(scores + (w * kTokens + i) * kTokens + j);
          const __m256 above = _mm256_add_ps(score, Biases(table + h * kTable, i, j));
          sum = _mm256_add_ps(sum, _mm256_max_ps(above, _mm256_setzero_ps()));
        }
        out[(w * kHeads + h) * kTokens + i] = Sum(sum);
      }
}
