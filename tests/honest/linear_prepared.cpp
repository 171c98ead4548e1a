// honest: task=linear
// Weights transposed by pragma_prepare.
#define PRAGMA_PREPACKED
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kUnits = task::out_dims[1];
extern "C" constinit const std::size_t pragma_packed_bytes = sizeof(float) * kIn * kUnits;

extern "C" void pragma_prepare(const float* layer_weight, const float* layer_bias, void* packed) {
  (void)layer_bias;
  auto to = static_cast<float*>(packed);
  for (int u = 0; u < kUnits; ++u)
    for (int i = 0; i < kIn; ++i) to[i * kUnits + u] = layer_weight[u * kIn + i];
}

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, const void* packed, void* scratch) {
  (void)layer_weight, (void)scratch;
  auto weight = static_cast<const float*>(packed);
  for (int r = 0; r < kRows; ++r) {
    float* row = out + r * kUnits;
    for (int u = 0; u < kUnits; ++u) row[u] = layer_bias[u];
    for (int i = 0; i < kIn; ++i)
      for (int u = 0; u < kUnits; ++u) row[u] += x[r * kIn + i] * weight[i * kUnits + u];
  }
}
