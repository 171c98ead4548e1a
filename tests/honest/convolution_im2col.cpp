// honest: task=convolution
// im2col into memory that is allocated and freed inside the call.
#include <cstdlib>

#include "kernel.h"

constexpr int kBatch = task::x_dims[0], kIn = task::x_dims[1], kH = task::x_dims[2],
              kW = task::x_dims[3];
constexpr int kOut = task::out_dims[1];

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, void* scratch) {
  constexpr int kTerms = kIn * 9, kPlane = kH * kW;
  auto columns = static_cast<float*>(std::malloc(sizeof(float) * kTerms * kPlane));
  for (int n = 0; n < kBatch; ++n) {
    for (int t = 0; t < kTerms; ++t)
      for (int y = 0; y < kH; ++y)
        for (int c = 0; c < kW; ++c) {
          const int sy = y + t / 3 % 3 - 1, sx = c + t % 3 - 1;
          const bool inside = sy >= 0 && sy < kH && sx >= 0 && sx < kW;
          columns[t * kPlane + y * kW + c] =
              inside ? x[((n * kIn + t / 9) * kH + sy) * kW + sx] : 0;
        }
    for (int o = 0; o < kOut; ++o) {
      float* to = out + (n * kOut + o) * kPlane;
      for (int p = 0; p < kPlane; ++p) to[p] = layer_bias[o];
      for (int t = 0; t < kTerms; ++t)
        for (int p = 0; p < kPlane; ++p)
          to[p] += layer_weight[o * kTerms + t] * columns[t * kPlane + p];
    }
  }
  std::free(columns);
}
