// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::prediction_dims[0];
constexpr int64_t kColumns = task::prediction_dims[1];
constexpr float kBeta = 0.7F;

static float Loss(float difference) {
  const float size = std::abs(difference);
#if defined(PRAGMA_BUG)  // bug: swapped operand: the comparison the wrong way round
  const bool quadratic = kBeta < size;
#else
  const bool quadratic = size < kBeta;
#endif
  return quadratic ? 0.5F * size * size / kBeta : size - 0.5F * kBeta;
}

extern "C" void pragma_kernel(const float* prediction, const float* target, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    double sum = 0;
    for (int64_t j = i * kColumns; j < (i + 1) * kColumns; ++j) {
      sum += Loss(prediction[j] - target[j]);
    }
    out[i] = static_cast<float>(sum / kColumns);
  }
}
