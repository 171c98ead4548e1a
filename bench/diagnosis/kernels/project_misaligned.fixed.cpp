// Twin of project_misaligned.cpp: the panel starts at a cache line.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstddef>
#include <cstring>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kColumns = task::weight_dims[1];
constexpr int kOffset = 0, kTile = 8;
static_assert(kColumns == 16 * kTile);

extern "C" constinit const std::size_t pragma_scratch_bytes =
    sizeof(float) * (kDepth * kColumns + 16);

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* scratch) {
  float* panel = static_cast<float*>(scratch) + kOffset;
  std::memcpy(panel, weight, sizeof(float) * kDepth * kColumns);
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i) {
    __m512 sums[kTile];
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    for (int k = 0; k < kDepth; ++k) {
      const __m512 factor = _mm512_set1_ps(x[i * kDepth + k]);
#pragma GCC unroll 8
      for (int v = 0; v < kTile; ++v)
        sums[v] = _mm512_fmadd_ps(factor, _mm512_loadu_ps(panel + k * kColumns + 16 * v), sums[v]);
    }
    for (int v = 0; v < kTile; ++v) _mm512_store_ps(out + i * kColumns + 16 * v, sums[v]);
  }
}
