// honest: task=linear
// Scratch holds the weights transposed; they are packed anew in every call.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kUnits = task::out_dims[1];
extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kIn * kUnits;

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, void* scratch) {
  auto packed = static_cast<float*>(scratch);
  for (int u = 0; u < kUnits; ++u)
    for (int i = 0; i < kIn; ++i) packed[i * kUnits + u] = layer_weight[u * kIn + i];
  for (int r = 0; r < kRows; ++r) {
    float* row = out + r * kUnits;
    for (int u = 0; u < kUnits; ++u) row[u] = layer_bias[u];
    for (int i = 0; i < kIn; ++i)
      for (int u = 0; u < kUnits; ++u) row[u] += x[r * kIn + i] * packed[i * kUnits + u];
  }
}
