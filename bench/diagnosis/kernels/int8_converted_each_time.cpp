// task: linear_int8
// cause: type_conversion
// why: every row converts the whole 8-bit matrix to float again, two instructions for each FMA
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kColumns = task::weight_dims[1];
constexpr int kTile = kColumns / 16;
static_assert(kColumns % 16 == 0);

static __m512 Load(const std::int8_t* from) {
  return _mm512_cvtepi32_ps(
      _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}

extern "C" void pragma_kernel(const float* x, const std::int8_t* weight, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i) {
    __m512 sums[kTile];
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    for (int k = 0; k < kDepth; ++k) {
      const __m512 factor = _mm512_set1_ps(x[i * kDepth + k]);
#pragma GCC unroll 8
      for (int v = 0; v < kTile; ++v)
        sums[v] = _mm512_fmadd_ps(factor, Load(weight + k * kColumns + 16 * v), sums[v]);
    }
    for (int v = 0; v < kTile; ++v) _mm512_store_ps(out + i * kColumns + 16 * v, sums[v]);
  }
}
