// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kWidth = task::x_dims[1];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the last column is never written
constexpr int64_t kEnd = kWidth - 1;
#else
constexpr int64_t kEnd = kWidth;
#endif

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    const float* row = x + i * kWidth;
    double sum = 0;
    for (int64_t j = 0; j < kWidth; ++j) sum += row[j];
    const double mean = sum / kWidth;
    double squares = 0;
    for (int64_t j = 0; j < kWidth; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const double scale = 1 / std::sqrt(squares / kWidth + 1e-5);
    for (int64_t j = 0; j < kEnd; ++j) {
      const double normal = (row[j] - mean) * scale;
      out[i * kWidth + j] = static_cast<float>(normal * norm_weight[j] + norm_bias[j]);
    }
  }
}
