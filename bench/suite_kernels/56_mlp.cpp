// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kInputs = task::x_dims[1];
constexpr int64_t kFirst = task::first_weight_dims[0];
constexpr int64_t kSecond = task::second_weight_dims[0];
constexpr int64_t kOutputs = task::third_weight_dims[0];

// The two hidden layers.
extern "C" constinit const std::size_t pragma_scratch_bytes =
    kRows * (kFirst + kSecond) * sizeof(float);

// One row through one linear layer.
static void Linear(const float* x, int64_t inputs, const float* weight, const float* bias,
                   int64_t outputs, float* out) {
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: each dot product lacks its last term
  const int64_t terms = inputs - 1;
#else
  const int64_t terms = inputs;
#endif
  for (int64_t o = 0; o < outputs; ++o) {
    float sum = bias[o];
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < terms; ++k) sum += x[k] * weight[o * inputs + k];
    out[o] = sum;
  }
}

static void Rectify(float* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = std::max(values[i], 0.0F);
}

extern "C" void pragma_kernel(const float* x, const float* first_weight, const float* first_bias,
                              const float* second_weight, const float* second_bias,
                              const float* third_weight, const float* third_bias, float* out,
                              void* scratch) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    float* first = static_cast<float*>(scratch) + i * (kFirst + kSecond);
    float* second = first + kFirst;
    Linear(x + i * kInputs, kInputs, first_weight, first_bias, kFirst, first);
    Rectify(first, kFirst);
    Linear(first, kFirst, second_weight, second_bias, kSecond, second);
    Rectify(second, kSecond);
    Linear(second, kSecond, third_weight, third_bias, kOutputs, out + i * kOutputs);
  }
}
