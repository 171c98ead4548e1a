// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kLength = task::x_dims[0];
constexpr int64_t kRows = task::x_dims[1];
constexpr int64_t kColumns = task::x_dims[2];
#if defined(PRAGMA_BUG)  // bug: wrong stride: rows are stepped by their number, not their length
constexpr int64_t kRowStride = kRows;
#else
constexpr int64_t kRowStride = kColumns;
#endif

// Too small to share between threads.
extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  std::fill(out, out + kRows * kColumns, std::numeric_limits<float>::infinity());
  for (int64_t l = 0; l < kLength; ++l) {
    for (int64_t i = 0; i < kRows; ++i) {
      const float* in = x + l * kRows * kColumns + i * kRowStride;
      float* row = out + i * kColumns;
      for (int64_t j = 0; j < kColumns; ++j) row[j] = std::min(row[j], in[j]);
    }
  }
}
