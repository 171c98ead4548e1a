// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kVolumes = task::x_dims[0] * task::x_dims[1];
constexpr int64_t kDepth = task::x_dims[2];
constexpr int64_t kHeight = task::x_dims[3];
constexpr int64_t kWidth = task::x_dims[4];
constexpr int64_t OutSize(int64_t size) { return (size + 2 - 3) / 2 + 1; }

// The part of a window of three, stepped by two and padded by one, that lies inside.
struct Range {
  int64_t begin;
  int64_t end;
};
static Range Window(int64_t o, int64_t size) {
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the last plane, row and column are left out
  const int64_t end = size - 1;
#else
  const int64_t end = size;
#endif
  return {std::max<int64_t>(0, o * 2 - 1), std::min(end, o * 2 + 2)};
}

static float Mean(const float* volume, Range z, Range y, Range x) {
  float sum = 0;
  for (int64_t d = z.begin; d < z.end; ++d) {
    for (int64_t h = y.begin; h < y.end; ++h) {
      for (int64_t w = x.begin; w < x.end; ++w) sum += volume[(d * kHeight + h) * kWidth + w];
    }
  }
  return sum / static_cast<float>((z.end - z.begin) * (y.end - y.begin) * (x.end - x.begin));
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t volume = 0; volume < kVolumes; ++volume) {
    for (int64_t d = 0; d < OutSize(kDepth); ++d) {
      const float* in = x + volume * kDepth * kHeight * kWidth;
      float* plane = out + (volume * OutSize(kDepth) + d) * OutSize(kHeight) * OutSize(kWidth);
      for (int64_t h = 0; h < OutSize(kHeight); ++h) {
        for (int64_t w = 0; w < OutSize(kWidth); ++w) {
          plane[h * OutSize(kWidth) + w] =
              Mean(in, Window(d, kDepth), Window(h, kHeight), Window(w, kWidth));
        }
      }
    }
  }
}
