// task: embedding_bag
// cause: gather
// why: the innermost loop runs over the rows of a bag, so a gather fetches the same column of sixteen rows, though each row is contiguous
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
    for (int c = 0; c < kWidth; ++c) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < kPerBag; ++j) sum += table[bag[j] * kWidth + c];
      to[c] = sum;
    }
  }
}
