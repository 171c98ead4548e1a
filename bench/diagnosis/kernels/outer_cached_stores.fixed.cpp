// Twin of outer_cached_stores.cpp: uses non-temporal (streaming) stores.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::a_dims[0], kColumns = task::b_dims[0];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (std::int64_t r = 0; r < kRows; ++r) {
    const __m512 factor = _mm512_set1_ps(a[r]);
    for (std::int64_t c = 0; c < kColumns; c += 16)
      _mm512_stream_ps(out + r * kColumns + c, _mm512_mul_ps(factor, _mm512_load_ps(b + c)));
    _mm_sfence();
  }
}
