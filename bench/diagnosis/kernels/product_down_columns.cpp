// task: few_rows_product
// cause: strided_access
// also: not_vectorised
// why: the innermost loop walks down a column, 4 KiB a step, so that all its lines fall into the same set of the first level
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::a_dims[0], kDepth = task::a_dims[1], kColumns = task::b_dims[1];
constexpr int kBlock = 128;
static_assert(kColumns % kBlock == 0);

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int first = 0; first < kColumns; first += kBlock) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = first; j < first + kBlock; ++j) {
        float sum = 0;
        for (int k = 0; k < kDepth; ++k) sum += a[i * kDepth + k] * b[k * kColumns + j];
        out[i * kColumns + j] = sum;
      }
    }
  }
}
