// Twin of codebook_gather.cpp: the codebook lies in a register and is looked up by a permutation
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::codes_dims[0], kColumns = task::codes_dims[1];
static_assert(kColumns % 64 == 0);

static float Row(const std::uint8_t* codes, const float* book, const float* x) {
  __m512 sums[4];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  for (int c = 0; c < kColumns; c += 64) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const __m128i bytes =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + c + 16 * v));
      const __m512i at = _mm512_and_si512(_mm512_cvtepu8_epi32(bytes), _mm512_set1_epi32(15));
      const __m512 weight = _mm512_permutexvar_ps(at, _mm512_loadu_ps(book));
      sums[v] = _mm512_fmadd_ps(weight, _mm512_loadu_ps(x + c + 16 * v), sums[v]);
    }
  }
  return _mm512_reduce_add_ps(
      _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3])));
}

extern "C" void pragma_kernel(const std::uint8_t* codes, const float* book, const float* x,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) out[r] = Row(codes + r * kColumns, book, x);
}
