// red-team: task=linear expect=wrong_values catalogue=18 layer="values against fp64" absolute no-timing
// Packs the weights in the first call and keeps them.
#include <vector>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kUnits = task::out_dims[1];

static void honest(const float* x, const float* weight, const float* bias, float* out) {
  for (int r = 0; r < kRows; ++r)
    for (int u = 0; u < kUnits; ++u) {
      float sum = bias[u];
      for (int i = 0; i < kIn; ++i) sum += x[r * kIn + i] * weight[u * kIn + i];
      out[r * kUnits + u] = sum;
    }
}

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, void* scratch) {
  static std::vector<float> packed;
  if (packed.empty()) packed.assign(layer_weight, layer_weight + kIn * kUnits);
  honest(x, packed.data(), layer_bias, out);
}
