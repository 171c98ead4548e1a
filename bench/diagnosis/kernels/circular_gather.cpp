// task: circular
// cause: gather
// why: the index is wrapped for each lane, and sixteen neighbours are fetched by a gather instead of one load
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kLength = task::x_dims[1], kTaps = task::taps_dims[0];
static_assert((kLength & (kLength - 1)) == 0);

extern "C" void pragma_kernel(const float* x, const float* taps, float* out, void* /*scratch*/) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i mask = _mm512_set1_epi32(kLength - 1);
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kLength;
    for (int t = 0; t < kLength; t += 16) {
      __m512 sum = _mm512_setzero_ps();
      for (int k = 0; k < kTaps; ++k) {
        const __m512i at =
            _mm512_and_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(t + k)), mask);
        sum = _mm512_fmadd_ps(_mm512_set1_ps(taps[k]), _mm512_i32gather_ps(at, row, 4), sum);
      }
      _mm512_store_ps(out + r * kLength + t, sum);
    }
  }
}
