// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kPlanes = task::x_dims[0] * task::x_dims[1];
constexpr int64_t kHeight = task::x_dims[2];
constexpr int64_t kWidth = task::x_dims[3];
constexpr int64_t kOutHeight = kHeight / 2;
constexpr int64_t kOutWidth = kWidth / 2;
#if defined(PRAGMA_BUG)  // bug: wrong stride: positions are counted in rows of the output's width
constexpr int64_t kPositionStride = kOutWidth;
#else
constexpr int64_t kPositionStride = kWidth;
#endif

// Values and their positions in the input plane; of equal ones the first wins.
extern "C" void pragma_kernel(const float* x, float* out_0, int64_t* out_1, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t plane = 0; plane < kPlanes; ++plane) {
    for (int64_t oy = 0; oy < kOutHeight; ++oy) {
      for (int64_t ox = 0; ox < kOutWidth; ++ox) {
        const float* in = x + plane * kHeight * kWidth;
        int64_t best_y = 2 * oy;
        int64_t best_x = 2 * ox;
        for (int64_t k = 1; k < 4; ++k) {
          const int64_t iy = 2 * oy + k / 2;
          const int64_t ix = 2 * ox + k % 2;
          if (in[iy * kWidth + ix] <= in[best_y * kWidth + best_x]) continue;
          best_y = iy;
          best_x = ix;
        }
        const int64_t at = (plane * kOutHeight + oy) * kOutWidth + ox;
        out_0[at] = in[best_y * kWidth + best_x] * 0.5F;
        out_1[at] = best_y * kPositionStride + best_x;
      }
    }
  }
}
