// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kWidth = task::x_dims[1];
constexpr int64_t kTile = 16;
#if defined(PRAGMA_BUG)  // bug: missing last tile: rows past the last whole tile stay unwritten
constexpr int64_t kTiles = kRows / kTile;
#else
constexpr int64_t kTiles = (kRows + kTile - 1) / kTile;
#endif

extern "C" void pragma_kernel(const float* x, const float* residual, const float* norm_weight,
                              float* out_0, float* out_1, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    const int64_t end = std::min(kRows, (tile + 1) * kTile);
    for (int64_t i = tile * kTile; i < end; ++i) {
      float* total = out_1 + i * kWidth;
      double squares = 0;
      for (int64_t j = 0; j < kWidth; ++j) {
        total[j] = x[i * kWidth + j] + residual[i * kWidth + j];
        squares += static_cast<double>(total[j]) * total[j];
      }
      const auto scale = static_cast<float>(1 / std::sqrt(squares / kWidth + 1e-6));
      for (int64_t j = 0; j < kWidth; ++j)
        out_0[i * kWidth + j] = total[j] * scale * norm_weight[j];
    }
  }
}
