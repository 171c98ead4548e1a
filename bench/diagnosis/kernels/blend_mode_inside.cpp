// task: blend_rows
// cause: not_vectorised
// why: a switch inside the loop over a row's pixels chooses the row's mode; it goes the same way for the whole row, but no vectoriser takes a switch
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

enum Mode { kMultiply, kScreen, kDifference, kMix };

static void Row(const float* x, const float* y, std::int64_t mode, float* out) {
  for (int c = 0; c < kColumns; ++c) {
    switch (mode) {
      case kMultiply: out[c] = x[c] * y[c]; break;
      case kScreen: out[c] = x[c] + y[c] - x[c] * y[c]; break;
      case kDifference: out[c] = std::abs(x[c] - y[c]); break;
      default: out[c] = x[c] * 0.75F + y[c] * 0.25F; break;
    }
  }
}

extern "C" void pragma_kernel(const float* x, const float* y, const std::int64_t* mode, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Row(x + r * kColumns, y + r * kColumns, mode[r], out + r * kColumns);
}
