// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kColumns = task::x_dims[1];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the last entry is missing from the sum
constexpr int64_t kSummed = kColumns - 1;
#else
constexpr int64_t kSummed = kColumns;
#endif

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    const float* row = x + i * kColumns;
    float* result = out + i * kColumns;
    const float largest = *std::max_element(row, row + kColumns);
    for (int64_t j = 0; j < kColumns; ++j) result[j] = std::exp(row[j] - largest);
    double sum = 0;
    for (int64_t j = 0; j < kSummed; ++j) sum += result[j];
    const auto scale = static_cast<float>(1 / sum);
    for (int64_t j = 0; j < kColumns; ++j) result[j] *= scale;
  }
}
