// Twin of batched_in_memory.cpp: a row of results stays in registers until it is complete.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kBatch = task::a_dims[0], kRows = task::a_dims[1], kDepth = task::a_dims[2];
constexpr int kColumns = task::b_dims[2], kTile = kColumns / 16;
static_assert(kColumns % 16 == 0);

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int n = 0; n < kBatch; ++n) {
    const float* right = b + n * kDepth * kColumns;
    for (int i = n * kRows; i < (n + 1) * kRows; ++i) {
      __m512 sums[kTile];
      for (auto& sum : sums) sum = _mm512_setzero_ps();
      for (int k = 0; k < kDepth; ++k) {
        const __m512 factor = _mm512_set1_ps(a[i * kDepth + k]);
#pragma GCC unroll 8
        for (int v = 0; v < kTile; ++v)
          sums[v] = _mm512_fmadd_ps(factor, _mm512_load_ps(right + k * kColumns + 16 * v), sums[v]);
      }
      for (int v = 0; v < kTile; ++v) _mm512_store_ps(out + i * kColumns + 16 * v, sums[v]);
    }
  }
}
