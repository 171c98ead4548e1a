// Twin of density_from_triples.cpp: the triples are taken apart once.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr int kParticles = task::positions_dims[0];

extern "C" void pragma_kernel(const float* positions, float* out, void* /*scratch*/) {
  alignas(64) float xs[kParticles], ys[kParticles], zs[kParticles];
  for (int i = 0; i < kParticles; ++i) {
    xs[i] = positions[3 * i];
    ys[i] = positions[3 * i + 1];
    zs[i] = positions[3 * i + 2];
  }
#pragma omp parallel for
  for (int i = 0; i < kParticles; ++i) {
    const float x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2];
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < kParticles; ++j) {
      const float dx = xs[j] - x, dy = ys[j] - y, dz = zs[j] - z;
      const float near = 1 - (dx * dx + dy * dy + dz * dz), inside = near < 0 ? 0 : near;
      sum += inside * inside;
    }
    out[i] = sum;
  }
}
