// Twin of product_down_columns.cpp: the innermost loop walks along rows
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::a_dims[0], kDepth = task::a_dims[1], kColumns = task::b_dims[1];
constexpr int kBlock = 128;
static_assert(kColumns % kBlock == 0);

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int first = 0; first < kColumns; first += kBlock) {
    for (int i = 0; i < kRows; ++i) {
      float sums[kBlock] = {};
      for (int k = 0; k < kDepth; ++k)
        for (int j = 0; j < kBlock; ++j)
          sums[j] += a[i * kDepth + k] * b[k * kColumns + first + j];
      for (int j = 0; j < kBlock; ++j) out[i * kColumns + first + j] = sums[j];
    }
  }
}
