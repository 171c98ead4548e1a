// task: density
// cause: shuffles
// why: positions lie as triples, which are taken apart with shuffles again for each particle
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr int kParticles = task::positions_dims[0];

extern "C" void pragma_kernel(const float* positions, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kParticles; ++i) {
    const float x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2];
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < kParticles; ++j) {
      const float dx = positions[3 * j] - x, dy = positions[3 * j + 1] - y, dz = positions[3 * j + 2] - z;
      const float near = 1 - (dx * dx + dy * dy + dz * dz), inside = near < 0 ? 0 : near;
      sum += inside * inside;
    }
    out[i] = sum;
  }
}
