// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kFeatures = task::x_dims[1];
constexpr int64_t kOutputs = task::linear_weight_dims[0];
#if defined(PRAGMA_BUG)  // bug: wrong stride: the weight is read as if features came first
constexpr int64_t kOutputStride = 1;
constexpr int64_t kFeatureStride = kOutputs;
#else
constexpr int64_t kOutputStride = kFeatures;
constexpr int64_t kFeatureStride = 1;
#endif

static float Gelu(float v) { return 0.5F * v * (1.0F + std::erf(v * 0.70710678119F)); }

extern "C" void pragma_kernel(const float* x, const float* linear_weight, const float* linear_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t o = 0; o < kOutputs; ++o) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < kFeatures; ++k) {
        sum += x[i * kFeatures + k] * linear_weight[o * kOutputStride + k * kFeatureStride];
      }
      out[i * kOutputs + o] = Gelu(sum + linear_bias[o]);
    }
  }
}
