// Twin of dots_horizontal_sums.cpp: the matrix is transposed once, and a vector holds sixteen results.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstddef>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kOut = task::weight_dims[0];
constexpr int kTile = 8;
static_assert(kOut % (16 * kTile) == 0);

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kDepth * kOut;

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* scratch) {
  float* columns = static_cast<float*>(scratch);
  for (int o = 0; o < kOut; ++o)
    for (int k = 0; k < kDepth; ++k) columns[k * kOut + o] = weight[o * kDepth + k];
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i) {
    for (int o = 0; o < kOut; o += 16 * kTile) {
      __m512 sums[kTile];
      for (auto& sum : sums) sum = _mm512_setzero_ps();
      for (int k = 0; k < kDepth; ++k) {
        const __m512 factor = _mm512_set1_ps(x[i * kDepth + k]);
#pragma GCC unroll 8
        for (int v = 0; v < kTile; ++v)
          sums[v] =
              _mm512_fmadd_ps(factor, _mm512_load_ps(columns + k * kOut + o + 16 * v), sums[v]);
      }
      for (int v = 0; v < kTile; ++v) _mm512_store_ps(out + i * kOut + o + 16 * v, sums[v]);
    }
  }
}
