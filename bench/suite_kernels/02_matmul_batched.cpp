// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::a_dims[0];
constexpr int64_t kRows = task::a_dims[1];
constexpr int64_t kDepth = task::a_dims[2];
constexpr int64_t kColumns = task::b_dims[2];
#if defined(PRAGMA_BUG)  // bug: wrong stride: the first factor is stepped by the second's size
constexpr int64_t kStepA = kDepth * kColumns;
#else
constexpr int64_t kStepA = kRows * kDepth;
#endif

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t i = 0; i < kRows; ++i) {
      const float* left = a + n * kStepA + i * kDepth;
      const float* right = b + n * kDepth * kColumns;
      float* row = out + (n * kRows + i) * kColumns;
      std::fill(row, row + kColumns, 0.0F);
      for (int64_t k = 0; k < kDepth; ++k) {
        for (int64_t j = 0; j < kColumns; ++j) row[j] += left[k] * right[k * kColumns + j];
      }
    }
  }
}
