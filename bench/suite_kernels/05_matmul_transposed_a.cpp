// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kDepth = task::a_dims[0];
constexpr int64_t kRows = task::a_dims[1];
constexpr int64_t kColumns = task::b_dims[1];

static float Left(const float* a, int64_t i, int64_t k) {
#if defined(PRAGMA_BUG)  // bug: wrong stride: the factor is read as if it were stored untransposed
  return a[i * kDepth + k];
#else
  return a[k * kRows + i];
#endif
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    float* row = out + i * kColumns;
    std::fill(row, row + kColumns, 0.0F);
    for (int64_t k = 0; k < kDepth; ++k) {
      const float factor = Left(a, i, k);
      for (int64_t j = 0; j < kColumns; ++j) row[j] += factor * b[k * kColumns + j];
    }
  }
}
