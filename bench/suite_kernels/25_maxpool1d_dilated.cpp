// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0] * task::x_dims[1];
constexpr int64_t kLength = task::x_dims[2];
constexpr int64_t kKernel = 5;
constexpr int64_t kStride = 2;
constexpr int64_t kPadding = 2;
constexpr int64_t kDilation = 2;
constexpr int64_t kOutLength =
    (kLength + 2 * kPadding - kDilation * (kKernel - 1) - 1) / kStride + 1;
#if defined(PRAGMA_BUG)  // bug: wrong stride: the window's dilation is forgotten
constexpr int64_t kStep = 1;
#else
constexpr int64_t kStep = kDilation;
#endif

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t o = 0; o < kOutLength; ++o) {
      float largest = -std::numeric_limits<float>::infinity();
      for (int64_t k = 0; k < kKernel; ++k) {
        const int64_t i = o * kStride - kPadding + k * kStep;
        if (i >= 0 && i < kLength) largest = std::max(largest, x[row * kLength + i]);
      }
      out[row * kOutLength + o] = largest;
    }
  }
}
