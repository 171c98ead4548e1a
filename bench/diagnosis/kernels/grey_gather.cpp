// task: grey
// cause: gather
// why: three gathers pick every third element, though the 192 bytes that they touch are contiguous
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];
static_assert(kColumns % 16 == 0);

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  const __m512i third =
      _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    for (int c = r * kColumns; c < (r + 1) * kColumns; c += 16) {
      const __m512 red = _mm512_i32gather_ps(third, x + 3 * c, 4);
      const __m512 green = _mm512_i32gather_ps(third, x + 3 * c + 1, 4);
      const __m512 blue = _mm512_i32gather_ps(third, x + 3 * c + 2, 4);
      __m512 grey = _mm512_mul_ps(red, _mm512_set1_ps(0.299F));
      grey = _mm512_fmadd_ps(green, _mm512_set1_ps(0.587F), grey);
      _mm512_store_ps(out + c, _mm512_fmadd_ps(blue, _mm512_set1_ps(0.114F), grey));
    }
  }
}
