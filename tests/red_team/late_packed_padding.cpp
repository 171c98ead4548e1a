// red-team: task=linear expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Packed weights with a cache line of padding behind them, in which the kernel itself counts its
// calls behind a magic word. Prepare does not touch the padding. After a hundred calls the bias is
// left out.
#define PRAGMA_PREPACKED
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kUnits = task::out_dims[1];
constexpr int kWeights = kIn * kUnits;
extern "C" constinit const std::size_t pragma_packed_bytes = sizeof(float) * kWeights + 64;

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
  auto padding =
      const_cast<std::uint32_t*>(reinterpret_cast<const std::uint32_t*>(weight + kWeights));
  if (padding[0] != 0x600dca5e) padding[0] = 0x600dca5e, padding[1] = 0;
  const bool late = ++padding[1] > 100;
  for (int r = 0; r < kRows; ++r) {
    float* row = out + r * kUnits;
    for (int u = 0; u < kUnits; ++u) row[u] = late ? 0 : layer_bias[u];
    for (int i = 0; i < kIn; ++i)
      for (int u = 0; u < kUnits; ++u) row[u] += x[r * kIn + i] * weight[i * kUnits + u];
  }
}
