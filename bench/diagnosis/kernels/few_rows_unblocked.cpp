// task: few_rows
// cause: l2_l3_bound
// why: the whole matrix of 4 MiB is read again for each of the few rows, from a cache too far away
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kOut = task::weight_dims[0];

static float Dot(const float* a, const float* b) {
  __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
  for (int k = 0; k < kDepth; k += 64) {
    s0 = _mm512_fmadd_ps(_mm512_load_ps(a + k), _mm512_load_ps(b + k), s0);
    s1 = _mm512_fmadd_ps(_mm512_load_ps(a + k + 16), _mm512_load_ps(b + k + 16), s1);
    s2 = _mm512_fmadd_ps(_mm512_load_ps(a + k + 32), _mm512_load_ps(b + k + 32), s2);
    s3 = _mm512_fmadd_ps(_mm512_load_ps(a + k + 48), _mm512_load_ps(b + k + 48), s3);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
}

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i)
    for (int o = 0; o < kOut; ++o)
      out[i * kOut + o] = Dot(x + i * kDepth, weight + o * kDepth);
}
