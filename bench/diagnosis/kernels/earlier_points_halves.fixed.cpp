// Twin of earlier_points_halves.cpp: cyclic blocks of points, so that each thread gets early and late ones
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kPoints = task::x_dims[0];

extern "C" void pragma_kernel(const float* x, const float* y, const float* z, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for schedule(static, 16)
  for (int i = 0; i < kPoints; ++i) {
    const float px = x[i], py = y[i], pz = z[i];
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < i; ++j) {
      const float dx = px - x[j], dy = py - y[j], dz = pz - z[j];
      const float depth = 1 - (dx * dx + dy * dy + dz * dz);
      sum += depth < 0 ? 0 : depth;
    }
    out[i] = sum;
  }
}
