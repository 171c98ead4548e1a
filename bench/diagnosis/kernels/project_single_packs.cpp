// task: project_transposed
// cause: not_parallel
// also: imbalance
// why: one thread packs the whole matrix in a single region while the other waits for it; that packing steps through lines comes second
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::a_dims[0], kDepth = task::a_dims[1], kOut = task::b_dims[0];
static_assert(kRows % 6 == 0 && kDepth % 16 == 0 && kOut % 64 == 0);

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kDepth * kOut;

// 64 rows of b become 64 columns.
static void Pack(const float* b, float* panel) {
  for (int first = 0; first < kDepth; first += 16)
    for (int n = 0; n < 64; ++n)
      for (int k = first; k < first + 16; ++k) panel[k * 64 + n] = b[n * kDepth + k];
}

static void Tile(const float* a, const float* panel, float* out) {
  __m512 sums[6][4];
  for (auto& row : sums)
    for (auto& sum : row) sum = _mm512_setzero_ps();
  for (int k = 0; k < kDepth; ++k) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      const __m512 factor = _mm512_set1_ps(a[i * kDepth + k]);
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[i][v] = _mm512_fmadd_ps(factor, _mm512_load_ps(panel + 64 * k + 16 * v), sums[i][v]);
    }
  }
  for (int i = 0; i < 6; ++i)
    for (int v = 0; v < 4; ++v) _mm512_store_ps(out + i * kOut + 16 * v, sums[i][v]);
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  float* packed = static_cast<float*>(scratch);
#pragma omp parallel
  {
#pragma omp single
    for (int n = 0; n < kOut; n += 64) Pack(b + n * kDepth, packed + n * kDepth);
#pragma omp for
    for (int n = 0; n < kOut; n += 64)
      for (int i = 0; i < kRows; i += 6)
        Tile(a + i * kDepth, packed + n * kDepth, out + i * kOut + n);
  }
}
