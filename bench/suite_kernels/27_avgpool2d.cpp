// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kPlanes = task::x_dims[0] * task::x_dims[1];
constexpr int64_t kHeight = task::x_dims[2];
constexpr int64_t kWidth = task::x_dims[3];
constexpr int64_t kKernel = 4;
constexpr int64_t kStride = 3;
constexpr int64_t kPadding = 1;
constexpr int64_t kOutHeight = (kHeight + 2 * kPadding - kKernel) / kStride + 1;
constexpr int64_t kOutWidth = (kWidth + 2 * kPadding - kKernel) / kStride + 1;

static float Window(const float* plane, int64_t oy, int64_t ox) {
  float sum = 0;
  for (int64_t ky = 0; ky < kKernel; ++ky) {
    const int64_t iy = oy * kStride - kPadding + ky;
    if (iy < 0 || iy >= kHeight) continue;
    for (int64_t kx = 0; kx < kKernel; ++kx) {
      const int64_t ix = ox * kStride - kPadding + kx;
      if (ix >= 0 && ix < kWidth) sum += plane[iy * kWidth + ix];
    }
  }
  return sum / (kKernel * kKernel);
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t plane = 0; plane < kPlanes; ++plane) {
    for (int64_t oy = 0; oy < kOutHeight; ++oy) {
      const float* in = x + plane * kHeight * kWidth;
      float* row = out + (plane * kOutHeight + oy) * kOutWidth;
#if defined(PRAGMA_BUG)  // bug: swapped operand: row and column of the window change places
      for (int64_t ox = 0; ox < kOutWidth; ++ox) row[ox] = Window(in, ox, oy);
#else
      for (int64_t ox = 0; ox < kOutWidth; ++ox) row[ox] = Window(in, oy, ox);
#endif
    }
  }
}
