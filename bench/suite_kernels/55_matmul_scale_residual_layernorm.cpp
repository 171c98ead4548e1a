// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kWidth = task::x_dims[1];

// One row of (x weight) scale + residual.
static void Project(const float* x, const float* weight, const float* scale, const float* residual,
                    float* row) {
  for (int64_t j = 0; j < kWidth; ++j) row[j] = 0;
  for (int64_t k = 0; k < kWidth; ++k) {
    for (int64_t j = 0; j < kWidth; ++j) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: the scale is applied to the rows of the weight
      row[j] += x[k] * weight[k * kWidth + j] * scale[k];
#else
      row[j] += x[k] * weight[k * kWidth + j] * scale[j];
#endif
    }
  }
  for (int64_t j = 0; j < kWidth; ++j) row[j] += residual[j];
}

extern "C" void pragma_kernel(const float* x, const float* residual, const float* weight,
                              const float* scale, const float* norm_weight, const float* norm_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    float* row = out + i * kWidth;
    Project(x + i * kWidth, weight, scale, residual + i * kWidth, row);
    double sum = 0;
    for (int64_t j = 0; j < kWidth; ++j) sum += row[j];
    const double mean = sum / kWidth;
    double squares = 0;
    for (int64_t j = 0; j < kWidth; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const double factor = 1 / std::sqrt(squares / kWidth + 1e-5);
    for (int64_t j = 0; j < kWidth; ++j) {
      row[j] = static_cast<float>((row[j] - mean) * factor * norm_weight[j] + norm_bias[j]);
    }
  }
}
