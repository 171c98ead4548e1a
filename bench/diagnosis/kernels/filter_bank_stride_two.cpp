// task: filter_bank2
// cause: shuffles
// why: each tap of each filter picks every second element out of two vectors anew: a permutation for every FMA
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];
constexpr int kFilters = task::w_dims[0], kTaps = task::w_dims[1];
constexpr int kResults = (kColumns - kTaps) / 2 + 1;
static_assert(kColumns % 2 == 0 && kTaps % 2 == 0);

extern "C" void pragma_kernel(const float* x, const float* w, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* from = x + r * kColumns;
    for (int f = 0; f < kFilters; ++f) {
      const float* taps = w + f * kTaps;
      float* to = out + (r * kFilters + f) * kResults;
#pragma omp simd
      for (int i = 0; i < kResults; ++i) {
        float sum = 0;
#pragma GCC unroll 24
        for (int k = 0; k < kTaps; ++k) sum += taps[k] * from[2 * i + k];
        to[i] = sum;
      }
    }
  }
}
