// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kElements = task::x_dims[0] * task::x_dims[1];
constexpr int64_t kTile = 4096;
#if defined(PRAGMA_BUG)  // bug: missing last tile: elements past the last whole tile stay unwritten
constexpr int64_t kTiles = kElements / kTile;
#else
constexpr int64_t kTiles = (kElements + kTile - 1) / kTile;
#endif

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    const int64_t end = std::min(kElements, (tile + 1) * kTile);
    for (int64_t i = tile * kTile; i < end; ++i) out[i] = x[i] > 0 ? x[i] : 0;
  }
}
