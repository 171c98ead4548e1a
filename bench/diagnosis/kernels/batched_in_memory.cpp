// task: batched
// cause: store_bound
// why: the row of results is loaded and stored again for every k: a store for each FMA
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kBatch = task::a_dims[0], kRows = task::a_dims[1], kDepth = task::a_dims[2];
constexpr int kColumns = task::b_dims[2];

static void Add(float factor, const float* __restrict b, float* __restrict out) {
#pragma GCC unroll 1
  for (int j = 0; j < kColumns; ++j) out[j] += factor * b[j];
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int n = 0; n < kBatch; ++n) {
    const float* right = b + n * kDepth * kColumns;
    for (int i = n * kRows; i < (n + 1) * kRows; ++i) {
      float* row = out + i * kColumns;
      for (int j = 0; j < kColumns; ++j) row[j] = 0;
      for (int k = 0; k < kDepth; ++k) Add(a[i * kDepth + k], right + k * kColumns, row);
    }
  }
}
