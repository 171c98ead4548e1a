// Twin of int8_converted_each_time.cpp: the matrix is converted once, into the scratch memory.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kColumns = task::weight_dims[1];
constexpr int kTile = kColumns / 16;
static_assert(kColumns % 16 == 0);

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kDepth * kColumns;

static __m512 Load(const std::int8_t* from) {
  return _mm512_cvtepi32_ps(
      _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}

extern "C" void pragma_kernel(const float* x, const std::int8_t* weight, float* out,
                              void* scratch) {
  float* matrix = static_cast<float*>(scratch);
  for (int i = 0; i < kDepth * kColumns; i += 16) _mm512_store_ps(matrix + i, Load(weight + i));
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i) {
    __m512 sums[kTile];
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    for (int k = 0; k < kDepth; ++k) {
      const __m512 factor = _mm512_set1_ps(x[i * kDepth + k]);
#pragma GCC unroll 8
      for (int v = 0; v < kTile; ++v)
        sums[v] = _mm512_fmadd_ps(factor, _mm512_load_ps(matrix + k * kColumns + 16 * v), sums[v]);
    }
    for (int v = 0; v < kTile; ++v) _mm512_store_ps(out + i * kColumns + 16 * v, sums[v]);
  }
}
