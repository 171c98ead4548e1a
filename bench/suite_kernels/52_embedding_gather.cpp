// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::ids_dims[0];
constexpr int64_t kTokens = task::ids_dims[1];
constexpr int64_t kWidth = task::embedding_weight_dims[1];

extern "C" void pragma_kernel(const int64_t* ids, const float* embedding_weight, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t t = 0; t < kTokens; ++t) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: batch and token change places in the read
      const int64_t id = ids[t * kBatch + b];
#else
      const int64_t id = ids[b * kTokens + t];
#endif
      const float* row = embedding_weight + id * kWidth;
      std::copy(row, row + kWidth, out + (b * kTokens + t) * kWidth);
    }
  }
}
