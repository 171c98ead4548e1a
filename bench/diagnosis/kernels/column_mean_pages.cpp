// task: column_mean
// cause: tlb
// also: strided_access
// why: a line's width of columns at a time: each line is used whole, but each lies on another page, 8192 of them; the remedy, rows in order, is that of a stride
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (std::int64_t c = 0; c < kColumns; c += 16) {
    __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    for (std::int64_t r = 0; r < kRows; r += 4) {
      const float* from = x + r * kColumns + c;
      s0 = _mm512_add_ps(s0, _mm512_load_ps(from));
      s1 = _mm512_add_ps(s1, _mm512_load_ps(from + kColumns));
      s2 = _mm512_add_ps(s2, _mm512_load_ps(from + 2 * kColumns));
      s3 = _mm512_add_ps(s3, _mm512_load_ps(from + 3 * kColumns));
    }
    const __m512 sum = _mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3));
    _mm512_store_ps(out + c, _mm512_mul_ps(sum, _mm512_set1_ps(1.0F / kRows)));
  }
}
