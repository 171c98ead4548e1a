// task: counts_filter
// cause: type_conversion
// why: each of sixteen taps converts its 64-bit counts to floats again, eight at a time: a conversion for each FMA of half a vector
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstdint>

#include "kernel.h"

constexpr int kTaps = task::weight_dims[0], kColumns = task::counts_dims[1], kBlock = 32;
constexpr int kRows = task::counts_dims[0] - kTaps + 1;
static_assert(kRows % kBlock == 0 && kColumns % 64 == 0);

using Value = std::int64_t;

static inline __m512 Floats(const std::int64_t* counts) {
  const __m256 low = _mm512_cvtepi64_ps(_mm512_loadu_si512(counts));
  const __m256 high = _mm512_cvtepi64_ps(_mm512_loadu_si512(counts + 8));
  return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

// 64 columns of one row.
static void Sums(const Value* rows, int pitch, const float* weight, float* out) {
  __m512 sums[4];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  for (int i = 0; i < kTaps; ++i) {
    const __m512 factor = _mm512_set1_ps(weight[i]);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v)
      sums[v] = _mm512_fmadd_ps(factor, Floats(rows + i * pitch + 16 * v), sums[v]);
  }
  for (int v = 0; v < 4; ++v) _mm512_store_ps(out + 16 * v, sums[v]);
}

extern "C" void pragma_kernel(const std::int64_t* counts, const float* weight, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int first = 0; first < kRows; first += kBlock) {
    for (int c = 0; c < kColumns; c += 64) {
      for (int r = first; r < first + kBlock; ++r)
        Sums(counts + r * kColumns + c, kColumns, weight, out + r * kColumns + c);
    }
  }
}
