// task: gram
// cause: port_pressure
// why: each product of two rows loads both: two loads for every FMA, where a tile of rows would load each once
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kBatch = task::x_dims[0], kRows = task::x_dims[1], kLength = task::x_dims[2];

static float Dot(const float* a, const float* b) {
  __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
  for (int k = 0; k < kLength; k += 64) {
    s0 = _mm512_fmadd_ps(_mm512_load_ps(a + k), _mm512_load_ps(b + k), s0);
    s1 = _mm512_fmadd_ps(_mm512_load_ps(a + k + 16), _mm512_load_ps(b + k + 16), s1);
    s2 = _mm512_fmadd_ps(_mm512_load_ps(a + k + 32), _mm512_load_ps(b + k + 32), s2);
    s3 = _mm512_fmadd_ps(_mm512_load_ps(a + k + 48), _mm512_load_ps(b + k + 48), s3);
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3)));
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int n = 0; n < kBatch; ++n) {
    const float* rows = x + n * kRows * kLength;
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kRows; ++j)
        out[(n * kRows + i) * kRows + j] = Dot(rows + i * kLength, rows + j * kLength);
  }
}
