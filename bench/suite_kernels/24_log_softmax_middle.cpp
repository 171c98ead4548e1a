// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kClasses = task::x_dims[1];
constexpr int64_t kPositions = task::x_dims[2];
#if defined(PRAGMA_BUG)  // bug: wrong stride: classes are read as if they were the last dimension
constexpr int64_t kClassStride = 1;
constexpr int64_t kPositionStride = kClasses;
#else
constexpr int64_t kClassStride = kPositions;
constexpr int64_t kPositionStride = 1;
#endif

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t p = 0; p < kPositions; ++p) {
      const float* in = x + b * kClasses * kPositions + p * kPositionStride;
      float largest = std::numeric_limits<float>::lowest();
      for (int64_t c = 0; c < kClasses; ++c) largest = std::max(largest, in[c * kClassStride]);
      double sum = 0;
      for (int64_t c = 0; c < kClasses; ++c) sum += std::exp(in[c * kClassStride] - largest);
      const auto shift = static_cast<float>(largest + std::log(sum));
      float* result = out + b * kClasses * kPositions + p;
      for (int64_t c = 0; c < kClasses; ++c) result[c * kPositions] = in[c * kClassStride] - shift;
    }
  }
}
