// Twin of blend_mode_inside.cpp: the switch is outside, with a loop for each mode.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

enum Mode { kMultiply, kScreen, kDifference, kMix };

template <class Blend>
static void Each(const float* x, const float* y, float* out, Blend blend) {
#pragma omp simd
  for (int c = 0; c < kColumns; ++c) out[c] = blend(x[c], y[c]);
}

static void Row(const float* x, const float* y, std::int64_t mode, float* out) {
  switch (mode) {
    case kMultiply: Each(x, y, out, [](float a, float b) { return a * b; }); break;
    case kScreen: Each(x, y, out, [](float a, float b) { return a + b - a * b; }); break;
    case kDifference: Each(x, y, out, [](float a, float b) { return std::abs(a - b); }); break;
    default: Each(x, y, out, [](float a, float b) { return a * 0.75F + b * 0.25F; }); break;
  }
}

extern "C" void pragma_kernel(const float* x, const float* y, const std::int64_t* mode, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Row(x + r * kColumns, y + r * kColumns, mode[r], out + r * kColumns);
}
