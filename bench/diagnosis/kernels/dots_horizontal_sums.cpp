// task: short_dots
// cause: shuffles
// why: products of 32 elements end in a horizontal sum each: a chain of shuffles and additions for two vector products
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kOut = task::weight_dims[0];
static_assert(kDepth == 32);

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i) {
    const __m512 low = _mm512_load_ps(x + i * kDepth), high = _mm512_load_ps(x + i * kDepth + 16);
    for (int o = 0; o < kOut; ++o) {
      const float* row = weight + o * kDepth;
      out[i * kOut + o] = _mm512_reduce_add_ps(
          _mm512_fmadd_ps(low, _mm512_load_ps(row), _mm512_mul_ps(high, _mm512_load_ps(row + 16))));
    }
  }
}
