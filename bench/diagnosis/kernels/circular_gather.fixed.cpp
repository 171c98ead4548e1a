// Twin of circular_gather.cpp: uses plain loads. Only a row's last block, which wraps, is handled separately.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstring>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kLength = task::x_dims[1], kTaps = task::taps_dims[0];
static_assert(kTaps <= 16 && kLength % 16 == 0);

static __m512 Block(const float* from, const float* taps) {
  __m512 sum = _mm512_setzero_ps();
  for (int k = 0; k < kTaps; ++k)
    sum = _mm512_fmadd_ps(_mm512_set1_ps(taps[k]), _mm512_loadu_ps(from + k), sum);
  return sum;
}

extern "C" void pragma_kernel(const float* x, const float* taps, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kLength;
    for (int t = 0; t + 16 < kLength; t += 16)
      _mm512_store_ps(out + r * kLength + t, Block(row + t, taps));
    float last[32];
    std::memcpy(last, row + kLength - 16, sizeof(float) * 16);
    std::memcpy(last + 16, row, sizeof(float) * 16);
    _mm512_store_ps(out + (r + 1) * kLength - 16, Block(last, taps));
  }
}
