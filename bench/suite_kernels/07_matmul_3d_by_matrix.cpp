// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kTokens = task::x_dims[1];
constexpr int64_t kDepth = task::x_dims[2];
constexpr int64_t kColumns = task::matrix_dims[1];

extern "C" void pragma_kernel(const float* x, const float* matrix, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t t = 0; t < kTokens; ++t) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: batch and token change places in the read
      const float* left = x + (t * kBatch + b) * kDepth;
#else
      const float* left = x + (b * kTokens + t) * kDepth;
#endif
      float* row = out + (b * kTokens + t) * kColumns;
      std::fill(row, row + kColumns, 0.0F);
      for (int64_t k = 0; k < kDepth; ++k) {
        for (int64_t j = 0; j < kColumns; ++j) row[j] += left[k] * matrix[k * kColumns + j];
      }
    }
  }
}
