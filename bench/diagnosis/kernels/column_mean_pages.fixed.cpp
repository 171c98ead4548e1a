// Twin of column_mean_pages.cpp: reads rows in order, half of the columns per thread, with sums in L1.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0], kColumns = task::x_dims[1], kPart = 512;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (std::int64_t first = 0; first < kColumns; first += kPart) {
    alignas(64) float sums[kPart] = {};
    for (std::int64_t r = 0; r < kRows; r += 4) {
      const float* from = x + r * kColumns + first;
      for (std::int64_t c = 0; c < kPart; c += 16) {
        const __m512 s0 = _mm512_load_ps(from + c), s1 = _mm512_load_ps(from + kColumns + c);
        const __m512 s2 = _mm512_load_ps(from + 2 * kColumns + c);
        const __m512 s3 = _mm512_load_ps(from + 3 * kColumns + c);
        const __m512 four = _mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3));
        _mm512_store_ps(sums + c, _mm512_add_ps(_mm512_load_ps(sums + c), four));
      }
    }
    for (std::int64_t c = 0; c < kPart; ++c) out[first + c] = sums[c] * (1.0F / kRows);
  }
}
