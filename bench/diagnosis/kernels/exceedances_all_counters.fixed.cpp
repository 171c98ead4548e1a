// Twin of exceedances_all_counters.cpp: twelve thresholds at a time
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];
constexpr int kLevels = task::levels_dims[0], kGroup = 12;
static_assert(kColumns % 16 == 0 && kLevels % kGroup == 0);

static void Row(const float* x, const float* levels, std::int64_t* out) {
  for (int first = 0; first < kLevels; first += kGroup) {
    __m512i counts[kGroup];
#pragma GCC unroll 48
    for (int l = 0; l < kGroup; ++l) counts[l] = _mm512_setzero_si512();
    for (int c = 0; c < kColumns; c += 16) {
      const __m512 now = _mm512_loadu_ps(x + c);
#pragma GCC unroll 48
      for (int l = 0; l < kGroup; ++l) {
        const __m512 level = _mm512_set1_ps(levels[first + l]);
        const __mmask16 above = _mm512_cmp_ps_mask(now, level, _CMP_GT_OQ);
        counts[l] = _mm512_mask_add_epi32(counts[l], above, counts[l], _mm512_set1_epi32(1));
      }
    }
#pragma GCC unroll 48
    for (int l = 0; l < kGroup; ++l) out[first + l] = _mm512_reduce_add_epi32(counts[l]);
  }
}

extern "C" void pragma_kernel(const float* x, const float* levels, std::int64_t* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Row(x + r * kColumns, levels, out + r * kLevels);
}
