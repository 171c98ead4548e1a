// honest: task=linear
// Weights prepared in blocks of sixteen units, with the bias in front of each block.
#define PRAGMA_PREPACKED
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kIn = task::x_dims[1], kUnits = task::out_dims[1];
constexpr int kBlock = 16, kStride = (kIn + 1) * kBlock;
static_assert(kUnits % kBlock == 0);
extern "C" constinit const std::size_t pragma_packed_bytes =
    sizeof(float) * kStride * (kUnits / kBlock);

extern "C" void pragma_prepare(const float* layer_weight, const float* layer_bias, void* packed) {
  auto to = static_cast<float*>(packed);
  for (int b = 0; b < kUnits; b += kBlock) {
    for (int l = 0; l < kBlock; ++l) *to++ = layer_bias[b + l];
    for (int i = 0; i < kIn; ++i)
      for (int l = 0; l < kBlock; ++l) *to++ = layer_weight[(b + l) * kIn + i];
  }
}

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, const void* packed, void* scratch) {
  (void)layer_weight, (void)layer_bias, (void)scratch;
  auto blocks = static_cast<const float*>(packed);
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r)
    for (int b = 0; b < kUnits / kBlock; ++b) {
      const float* from = blocks + b * kStride;
      float sum[kBlock];
      for (int l = 0; l < kBlock; ++l) sum[l] = from[l];
      for (int i = 0; i < kIn; ++i)
        for (int l = 0; l < kBlock; ++l) sum[l] += x[r * kIn + i] * from[(i + 1) * kBlock + l];
      for (int l = 0; l < kBlock; ++l) out[r * kUnits + b * kBlock + l] = sum[l];
    }
}
