// Twin of filter_bank_stride_two.cpp: a row is split into its even and its odd elements once.
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
    float even[kColumns / 2], odd[kColumns / 2];
#pragma omp simd
    for (int i = 0; i < kColumns / 2; ++i) {
      even[i] = from[2 * i];
      odd[i] = from[2 * i + 1];
    }
    for (int f = 0; f < kFilters; ++f) {
      const float* taps = w + f * kTaps;
      float* to = out + (r * kFilters + f) * kResults;
#pragma omp simd
      for (int i = 0; i < kResults; ++i) {
        float sum = 0;
#pragma GCC unroll 12
        for (int k = 0; k < kTaps / 2; ++k)
          sum += taps[2 * k] * even[i + k] + taps[2 * k + 1] * odd[i + k];
        to[i] = sum;
      }
    }
  }
}
