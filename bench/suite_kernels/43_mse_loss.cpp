// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::prediction_dims[0];
constexpr int64_t kColumns = task::prediction_dims[1];
constexpr int64_t kTile = 64;
#if defined(PRAGMA_BUG)  // bug: missing last tile: rows past the last whole tile are not added
constexpr int64_t kTiles = kRows / kTile;
#else
constexpr int64_t kTiles = (kRows + kTile - 1) / kTile;
#endif

extern "C" void pragma_kernel(const float* prediction, const float* target, float* out,
                              void* /*scratch*/) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    const int64_t end = std::min(kRows, (tile + 1) * kTile) * kColumns;
    for (int64_t i = tile * kTile * kColumns; i < end; ++i) {
      const double difference = static_cast<double>(prediction[i]) - target[i];
      sum += difference * difference;
    }
  }
  out[0] = static_cast<float>(sum / (kRows * kColumns));
}
