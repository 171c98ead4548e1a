// task: lower
// cause: imbalance
// why: row i costs i steps, and the static schedule gives the second thread the three quarters that lie below
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kSize = task::a_dims[0], kColumns = task::b_dims[1], kTile = kColumns / 16;
static_assert(kColumns % 128 == 0);

// Processes eight vectors of columns at a time.
static void Row(const float* a, const float* b, int length, float* out) {
  for (int first = 0; first < kTile; first += 8) {
    __m512 sums[8];
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    for (int k = 0; k < length; ++k) {
      const __m512 factor = _mm512_set1_ps(a[k]);
#pragma GCC unroll 8
      for (int v = 0; v < 8; ++v)
        sums[v] =
            _mm512_fmadd_ps(factor, _mm512_load_ps(b + k * kColumns + 16 * (first + v)), sums[v]);
    }
    for (int v = 0; v < 8; ++v) _mm512_store_ps(out + 16 * (first + v), sums[v]);
  }
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < kSize; ++i) Row(a + i * kSize, b, i + 1, out + i * kColumns);
}
