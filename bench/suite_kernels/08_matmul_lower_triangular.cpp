// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kSize = task::a_dims[0];
constexpr int64_t kColumns = task::b_dims[1];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int64_t i = 0; i < kSize; ++i) {
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the diagonal is left out
    const int64_t terms = i;
#else
    const int64_t terms = i + 1;
#endif
    float* row = out + i * kColumns;
    std::fill(row, row + kColumns, 0.0F);
    for (int64_t k = 0; k < terms; ++k) {
      const float factor = a[i * kSize + k];
      for (int64_t j = 0; j < kColumns; ++j) row[j] += factor * b[k * kColumns + j];
    }
  }
}
