// honest: task=linear
// Keeps the packed weights from call to call together with the weights as they were, and packs anew
// when a comparison of all bytes finds a difference.
#include <cstring>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kUnits = task::out_dims[1];

static float known[kUnits * kIn], packed[kUnits * kIn];
static bool filled = false;

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, void* scratch) {
  if (!filled || std::memcmp(known, layer_weight, sizeof(known)) != 0) {
    std::memcpy(known, layer_weight, sizeof(known));
    for (int u = 0; u < kUnits; ++u)
      for (int i = 0; i < kIn; ++i) packed[i * kUnits + u] = layer_weight[u * kIn + i];
    filled = true;
  }
  for (int r = 0; r < kRows; ++r) {
    float* row = out + r * kUnits;
    for (int u = 0; u < kUnits; ++u) row[u] = layer_bias[u];
    for (int i = 0; i < kIn; ++i)
      for (int u = 0; u < kUnits; ++u) row[u] += x[r * kIn + i] * packed[i * kUnits + u];
  }
}
