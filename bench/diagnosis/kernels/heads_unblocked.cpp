// task: heads
// cause: l2_l3_bound
// why: all matrices, 4 MiB, are swept again for each of sixteen rows, though one of them would stay in the first level
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kHeads = task::weight_dims[0];
constexpr int kColumns = task::weight_dims[2], kTile = 4;
static_assert(kColumns == 16 * kTile && kDepth % 2 == 0);

// Even and odd k have separate sums, so that no dependency chain is long.
static void Head(const float* x, const float* weight, float* out) {
  __m512 even[kTile], odd[kTile];
  for (int v = 0; v < kTile; ++v) even[v] = odd[v] = _mm512_setzero_ps();
  for (int k = 0; k < kDepth; k += 2) {
    const __m512 first = _mm512_set1_ps(x[k]), second = _mm512_set1_ps(x[k + 1]);
    const float* from = weight + k * kColumns;
#pragma GCC unroll 4
    for (int v = 0; v < kTile; ++v) {
      even[v] = _mm512_fmadd_ps(first, _mm512_load_ps(from + 16 * v), even[v]);
      odd[v] = _mm512_fmadd_ps(second, _mm512_load_ps(from + kColumns + 16 * v), odd[v]);
    }
  }
  for (int v = 0; v < kTile; ++v) _mm512_store_ps(out + 16 * v, _mm512_add_ps(even[v], odd[v]));
}

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i)
    for (int t = 0; t < kHeads; ++t)
      Head(x + i * kDepth, weight + t * kDepth * kColumns, out + (i * kHeads + t) * kColumns);
}
