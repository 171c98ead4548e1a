// honest: task=convolution
// Winograd F(2x2, 3x3).
#include "kernel.h"

constexpr int kBatch = task::x_dims[0], kIn = task::x_dims[1], kH = task::x_dims[2],
              kW = task::x_dims[3];
constexpr int kOut = task::out_dims[1];
constexpr int kStep = 2, kTile = 4;
constexpr float kB[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
constexpr float kG[4][3] = {{1, 0, 0}, {0.5f, 0.5f, 0.5f}, {0.5f, -0.5f, 0.5f}, {0, 0, 1}};
constexpr float kA[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};

// to = M x M^T
template <int R, int C>
static void sandwich(const float (&m)[R][C], const float* x, float* to) {
  float half[R][C] = {};
  for (int i = 0; i < R; ++i)
    for (int k = 0; k < C; ++k)
      for (int j = 0; j < C; ++j) half[i][j] += m[i][k] * x[k * C + j];
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < R; ++j) {
      float sum = 0;
      for (int k = 0; k < C; ++k) sum += half[i][k] * m[j][k];
      to[i * R + j] = sum;
    }
}

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, void* scratch) {
  float transformed[kOut][kIn][kTile][kTile];
  for (int o = 0; o < kOut; ++o)
    for (int i = 0; i < kIn; ++i)
      sandwich<kTile, 3>(kG, layer_weight + (o * kIn + i) * 9, &transformed[o][i][0][0]);
  for (int n = 0; n < kBatch; ++n)
    for (int y = 0; y < kH; y += kStep)
      for (int c = 0; c < kW; c += kStep) {
        float data[kIn][kTile][kTile];
        for (int i = 0; i < kIn; ++i) {
          float patch[kTile][kTile];
          for (int u = 0; u < kTile; ++u)
            for (int v = 0; v < kTile; ++v) {
              const int sy = y + u - 1, sx = c + v - 1;
              const bool inside = sy >= 0 && sy < kH && sx >= 0 && sx < kW;
              patch[u][v] = inside ? x[((n * kIn + i) * kH + sy) * kW + sx] : 0;
            }
          sandwich<kTile, kTile>(kB, &patch[0][0], &data[i][0][0]);
        }
        for (int o = 0; o < kOut; ++o) {
          float sum[kTile][kTile] = {}, result[kStep][kStep];
          for (int i = 0; i < kIn; ++i)
            for (int u = 0; u < kTile; ++u)
              for (int v = 0; v < kTile; ++v) sum[u][v] += transformed[o][i][u][v] * data[i][u][v];
          sandwich<kStep, kTile>(kA, &sum[0][0], &result[0][0]);
          for (int u = 0; u < kStep; ++u)
            for (int v = 0; v < kStep; ++v)
              out[((n * kOut + o) * kH + y + u) * kW + c + v] = result[u][v] + layer_bias[o];
        }
      }
}
