// red-team: task=linear expect=wrong_values catalogue=8 layer="values against fp64" absolute no-timing
// The right numbers, transposed.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kUnits = task::out_dims[1];
extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r)
    for (int u = 0; u < kUnits; ++u) {
      float sum = layer_bias[u];
      for (int i = 0; i < kIn; ++i) sum += x[r * kIn + i] * layer_weight[u * kIn + i];
      out[u * kRows + r] = sum;
    }
}
