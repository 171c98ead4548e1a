// task: nearest_centre
// cause: l2_l3_bound
// why: all points, 4 MiB, are swept again for each of 48 centres, though a block of them would stay in the first level
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <limits>

#include "kernel.h"

constexpr int kDims = task::x_dims[0], kPoints = task::x_dims[1], kCentres = task::centres_dims[0];
constexpr int kBlock = kPoints / 2;
static_assert(kPoints % kBlock == 0 && kBlock % 32 == 0);

static void Centre(const float* x, const float* centre, float* best) {
  for (int p = 0; p < kBlock; p += 32) {
    __m512 sum1 = _mm512_setzero_ps(), sum2 = _mm512_setzero_ps();
#pragma GCC unroll 8
    for (int d = 0; d < kDims; ++d) {
      const __m512 at = _mm512_set1_ps(centre[d]);
      const __m512 diff1 = _mm512_sub_ps(_mm512_load_ps(x + d * kPoints + p), at);
      const __m512 diff2 = _mm512_sub_ps(_mm512_load_ps(x + d * kPoints + p + 16), at);
      sum1 = _mm512_fmadd_ps(diff1, diff1, sum1);
      sum2 = _mm512_fmadd_ps(diff2, diff2, sum2);
    }
    _mm512_store_ps(best + p, _mm512_min_ps(sum1, _mm512_load_ps(best + p)));
    _mm512_store_ps(best + p + 16, _mm512_min_ps(sum2, _mm512_load_ps(best + p + 16)));
  }
}

extern "C" void pragma_kernel(const float* x, const float* centres, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int first = 0; first < kPoints; first += kBlock) {
    for (int p = 0; p < kBlock; ++p) out[first + p] = std::numeric_limits<float>::infinity();
    for (int c = 0; c < kCentres; ++c) Centre(x + first, centres + c * kDims, out + first);
  }
}
