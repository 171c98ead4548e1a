// task: splats
// cause: imbalance
// why: each thread gets half of the rows, but all splats lie in the lower half of the image
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kHeight = task::height, kWidth = task::width, kSplats = task::across_dims[0];

// The column of a horizontal position, within the image.
static int Column(float x) {
  return static_cast<int>(std::min(std::max(x * kWidth, 0.0F), static_cast<float>(kWidth)));
}

extern "C" void pragma_kernel(const float* across, const float* down, const float* radius,
                              const float* brightness, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < kHeight; ++r) {
    const float y = (r + 0.5F) / kHeight;
    float row[kWidth] = {0};
    for (int s = 0; s < kSplats; ++s) {
      const float dy = y - down[s], reach2 = radius[s] * radius[s] + 1e-4F;
      if (dy * dy >= reach2) continue;
      const float half = std::sqrt(reach2 - dy * dy) + 1.0F / kWidth, inverse = 1 / reach2;
      const int first = Column(across[s] - half), last = Column(across[s] + half);
      const float middle = across[s], light = brightness[s], inside = 1 - dy * dy * inverse;
#pragma omp simd
      for (int c = first; c < last; ++c) {
        const float dx = (c + 0.5F) / kWidth - middle;
        const float near = std::max(inside - dx * dx * inverse, 0.0F);
        row[c] += near * near * light;
      }
    }
    std::copy(row, row + kWidth, out + r * kWidth);
  }
}
