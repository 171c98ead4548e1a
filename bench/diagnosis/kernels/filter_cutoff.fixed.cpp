// Twin of filter_cutoff.cpp: the cutoff counts elements
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0] - 6, kPitch = task::x_dims[1], kColumns = kPitch - 6;
static_assert(kColumns % 128 == 0);

static void Row(const float* x, const float* weight, float* out) {
  for (int c = 0; c < kColumns; c += 128) {
    __m512 sums[8];
    for (auto& sum : sums) sum = _mm512_setzero_ps();
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 7; ++j) {
        const __m512 factor = _mm512_set1_ps(weight[7 * i + j]);
#pragma GCC unroll 8
        for (int v = 0; v < 8; ++v)
          sums[v] =
              _mm512_fmadd_ps(factor, _mm512_loadu_ps(x + i * kPitch + c + 16 * v + j), sums[v]);
      }
    }
    for (int v = 0; v < 8; ++v) _mm512_storeu_ps(out + c + 16 * v, sums[v]);
  }
}

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for if (kRows * kColumns >= 10000)
  for (int r = 0; r < kRows; ++r) Row(x + r * kPitch, weight, out + r * kColumns);
}
