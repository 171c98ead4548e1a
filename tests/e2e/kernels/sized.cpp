// Takes the sizes of each call; weights packed beforehand.
#define PRAGMA_PREPACKED
#include "kernel.h"

extern "C" constinit const std::size_t pragma_packed_bytes = sizeof(float) * 8 * 1024;

extern "C" void pragma_prepare(const task::Dims& dims, const float* fc_weight, const float* fc_bias, void* packed) {
  float* columns = static_cast<float*>(packed);
  for (std::int64_t u = 0; u < 8; ++u)
    for (std::int64_t i = 0; i < dims.x_1; ++i) columns[i * 8 + u] = fc_weight[u * dims.x_1 + i];
}

extern "C" void pragma_kernel(const task::Dims& dims, const float* x, const float* fc_weight, const float* fc_bias,
                              float* out, const void* packed, void* scratch) {
  const float* columns = static_cast<const float*>(packed);
  for (std::int64_t r = 0; r < dims.x_0; ++r) {
    float sums[8];
    for (int u = 0; u < 8; ++u) sums[u] = fc_bias[u];
    for (std::int64_t i = 0; i < dims.x_1; ++i)
      for (int u = 0; u < 8; ++u) sums[u] += x[r * dims.x_1 + i] * columns[i * 8 + u];
    for (int u = 0; u < 8; ++u) out[r * 8 + u] = sums[u];
  }
}
