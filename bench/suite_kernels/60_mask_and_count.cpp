// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kColumns = task::x_dims[1];
constexpr int64_t kTile = 64;
#if defined(PRAGMA_BUG)  // bug: missing last tile: columns past the last whole tile are left out
constexpr int64_t kTiles = kColumns / kTile;
#else
constexpr int64_t kTiles = (kColumns + kTile - 1) / kTile;
#endif

extern "C" void pragma_kernel(const float* x, const float* limit, bool* out_0, int64_t* out_1,
                              float* out_2, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    int64_t count = 0;
    for (int64_t tile = 0; tile < kTiles; ++tile) {
      const int64_t end = i * kColumns + std::min(kColumns, (tile + 1) * kTile);
      for (int64_t j = i * kColumns + tile * kTile; j < end; ++j) {
        const bool above = x[j] > limit[j];
        out_0[j] = above;
        out_2[j] = above ? x[j] - limit[j] : -x[j];
        count += above ? 1 : 0;
      }
    }
    out_1[i] = count;
  }
}
