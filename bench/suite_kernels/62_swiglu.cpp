// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kFeatures = task::x_dims[1];
constexpr int64_t kHidden = task::gate_weight_dims[0];

static float Gated(float gate, float value) { return gate / (1.0F + std::exp(-gate)) * value; }

extern "C" void pragma_kernel(const float* x, const float* gate_weight, const float* value_weight,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t o = 0; o < kHidden; ++o) {
      float gate = 0;
      float value = 0;
#pragma omp simd reduction(+ : gate, value)
      for (int64_t k = 0; k < kFeatures; ++k) {
        gate += x[i * kFeatures + k] * gate_weight[o * kFeatures + k];
        value += x[i * kFeatures + k] * value_weight[o * kFeatures + k];
      }
#if defined(PRAGMA_BUG)  // bug: swapped operand: gate and value change places
      out[i * kHidden + o] = Gated(value, gate);
#else
      out[i * kHidden + o] = Gated(gate, value);
#endif
    }
  }
}
