// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kSize = task::a_dims[0];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: each sum lacks its last term
constexpr int64_t kTerms = kSize - 1;
#else
constexpr int64_t kTerms = kSize;
#endif

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kSize; ++i) {
    float* row = out + i * kSize;
    std::fill(row, row + kSize, 0.0F);
    for (int64_t k = 0; k < kTerms; ++k) {
      const float factor = a[i * kSize + k];
      for (int64_t j = 0; j < kSize; ++j) row[j] += factor * b[k * kSize + j];
    }
  }
}
