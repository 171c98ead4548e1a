// Twin of lags_all_at_once.cpp: sixteen lags at a time
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kPitch = task::x_dims[1], kLags = 64;
constexpr int kColumns = kPitch - kLags, kGroup = 16;
static_assert(kColumns % 16 == 0);

static void Row(const float* x, float* out) {
  for (int first = 0; first < kLags; first += kGroup) {
    __m512 sums[kGroup];
#pragma GCC unroll 64
    for (int l = 0; l < kGroup; ++l) sums[l] = _mm512_setzero_ps();
    for (int t = 0; t < kColumns; t += 16) {
      const __m512 now = _mm512_loadu_ps(x + t);
#pragma GCC unroll 64
      for (int l = 0; l < kGroup; ++l)
        sums[l] = _mm512_fmadd_ps(now, _mm512_loadu_ps(x + t + first + l), sums[l]);
    }
#pragma GCC unroll 64
    for (int l = 0; l < kGroup; ++l) out[first + l] = _mm512_reduce_add_ps(sums[l]);
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Row(x + r * kPitch, out + r * kLags);
}
