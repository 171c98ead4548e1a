// Twin of chamfer_new_distances.cpp: the distances stay in scratch memory, which is mapped already.
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernel.h"

constexpr std::int64_t kX = task::x_dims[0], kY = task::y_dims[0], kBlock = 512;
static_assert(kY % kBlock == 0);

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kX * kY;

extern "C" void pragma_kernel(const float* x, const float* y, float* out, void* scratch) {
  float* nearest_x = out;
  float* nearest_y = out + kX;
  float planar[3][kY];
  for (std::int64_t j = 0; j < kY; ++j)
    for (int a = 0; a < 3; ++a) planar[a][j] = y[3 * j + a];

  // All pairwise distances, since both directions need them.
  float* distance = static_cast<float*>(scratch);
#pragma omp parallel
  {
#pragma omp for
    for (std::int64_t i = 0; i < kX; ++i) {
      const float px = x[3 * i], py = x[3 * i + 1], pz = x[3 * i + 2];
      float* row = distance + i * kY;
      float least = std::numeric_limits<float>::infinity();
#pragma omp simd reduction(min : least)
      for (std::int64_t j = 0; j < kY; ++j) {
        const float dx = px - planar[0][j], dy = py - planar[1][j], dz = pz - planar[2][j];
        const float d = dx * dx + dy * dy + dz * dz;
        row[j] = d;
        least = std::min(least, d);
      }
      nearest_x[i] = least;
    }
#pragma omp for
    for (std::int64_t b = 0; b < kY; b += kBlock) {
      float least[kBlock];
      std::fill(least, least + kBlock, std::numeric_limits<float>::infinity());
      for (std::int64_t i = 0; i < kX; ++i) {
        const float* row = distance + i * kY + b;
#pragma omp simd
        for (std::int64_t j = 0; j < kBlock; ++j) least[j] = row[j] < least[j] ? row[j] : least[j];
      }
      std::copy(least, least + kBlock, nearest_y + b);
    }
  }
}
