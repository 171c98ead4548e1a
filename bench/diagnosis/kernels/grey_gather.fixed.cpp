// Twin of grey_gather.cpp: uses three plain loads, and permutations that sort the colours.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];
static_assert(kColumns % 16 == 0);

// Returns every third element of 48, starting at `first`.
static __m512 Third(__m512 a, __m512 b, __m512 c, int first) {
  const __m512i at = _mm512_add_epi32(
      _mm512_set1_epi32(first),
      _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45));
  const __m512 near = _mm512_permutex2var_ps(a, at, b);
  const __mmask16 far = _mm512_cmpge_epi32_mask(at, _mm512_set1_epi32(32));
  return _mm512_mask_permutexvar_ps(near, far, at, c);
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    for (int i = r * kColumns; i < (r + 1) * kColumns; i += 16) {
      const __m512 a = _mm512_load_ps(x + 3 * i), b = _mm512_load_ps(x + 3 * i + 16);
      const __m512 c = _mm512_load_ps(x + 3 * i + 32);
      __m512 grey = _mm512_mul_ps(Third(a, b, c, 0), _mm512_set1_ps(0.299F));
      grey = _mm512_fmadd_ps(Third(a, b, c, 1), _mm512_set1_ps(0.587F), grey);
      _mm512_store_ps(out + i, _mm512_fmadd_ps(Third(a, b, c, 2), _mm512_set1_ps(0.114F), grey));
    }
  }
}
