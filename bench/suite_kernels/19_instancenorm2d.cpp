// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kPlanes = task::x_dims[0] * kChannels;
constexpr int64_t kPixels = task::x_dims[2] * task::x_dims[3];
constexpr int64_t kTile = 64;
#if defined(PRAGMA_BUG)  // bug: missing last tile: pixels past the last whole tile stay unwritten
constexpr int64_t kTiles = kPixels / kTile;
#else
constexpr int64_t kTiles = (kPixels + kTile - 1) / kTile;
#endif

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t plane = 0; plane < kPlanes; ++plane) {
    const float* in = x + plane * kPixels;
    double sum = 0;
    for (int64_t p = 0; p < kPixels; ++p) sum += in[p];
    const double mean = sum / kPixels;
    double squares = 0;
    for (int64_t p = 0; p < kPixels; ++p) squares += (in[p] - mean) * (in[p] - mean);
    const int64_t channel = plane % kChannels;
    const double scale = norm_weight[channel] / std::sqrt(squares / kPixels + 1e-5);
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      const int64_t end = std::min(kPixels, (tile + 1) * kTile);
      for (int64_t p = tile * kTile; p < end; ++p) {
        out[plane * kPixels + p] = static_cast<float>((in[p] - mean) * scale + norm_bias[channel]);
      }
    }
  }
}
