// Twin of bags_column_by_column.cpp: the innermost loop runs over the columns.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kWidth = task::table_dims[1], kBags = task::ids_dims[0], kPerBag = task::ids_dims[1];

extern "C" void pragma_kernel(const float* table, const std::int64_t* ids, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int b = 0; b < kBags; ++b) {
    const std::int64_t* bag = ids + b * kPerBag;
    float* to = out + b * kWidth;
    float sum[kWidth] = {0};
    for (int j = 0; j < kPerBag; ++j) {
      const float* row = table + bag[j] * kWidth;
#pragma omp simd
      for (int c = 0; c < kWidth; ++c) sum[c] += row[c];
    }
    for (int c = 0; c < kWidth; ++c) to[c] = sum[c];
  }
}
