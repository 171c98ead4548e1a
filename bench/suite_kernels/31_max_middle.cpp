// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kLength = task::x_dims[1];
constexpr int64_t kWidth = task::x_dims[2];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the first of the candidates is left out
constexpr int64_t kFirst = 1;
#else
constexpr int64_t kFirst = 0;
#endif

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t b = 0; b < kBatch; ++b) {
    float* row = out + b * kWidth;
    std::fill(row, row + kWidth, -std::numeric_limits<float>::infinity());
    for (int64_t l = kFirst; l < kLength; ++l) {
      const float* in = x + (b * kLength + l) * kWidth;
      for (int64_t w = 0; w < kWidth; ++w) row[w] = std::max(row[w], in[w]);
    }
  }
}
