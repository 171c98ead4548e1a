// Twin of repulsion_in_critical.cpp: a block's work is done before the critical section, which only adds up.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kCount = task::x_dims[0], kProbes = task::probes_dims[0], kBlock = 1024;
static_assert(kCount % kBlock == 0);

static void Repulsion(const float* x, const float* y, const float* z, const float* probes,
                      float* totals) {
  for (int p = 0; p < kProbes; ++p) {
    const float px = probes[3 * p], py = probes[3 * p + 1], pz = probes[3 * p + 2];
    float sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(64)
    for (int i = 0; i < kBlock; ++i) {
      const float dx = x[i] - px, dy = y[i] - py, dz = z[i] - pz;
      const float w = 1.0F - (dx * dx + dy * dy + dz * dz) * 0.125F;
      const float kept = w > 0 ? w : 0.0F;
      sum += kept * kept;
    }
    totals[p] += sum;
  }
}

extern "C" void pragma_kernel(const float* x, const float* y, const float* z, const float* probes,
                              float* out, void* /*scratch*/) {
  for (int p = 0; p < kProbes; ++p) out[p] = 0;
#pragma omp parallel for
  for (int b = 0; b < kCount; b += kBlock) {
    float mine[kProbes] = {0};
    Repulsion(x + b, y + b, z + b, probes, mine);
#pragma omp critical
    for (int p = 0; p < kProbes; ++p) out[p] += mine[p];
  }
}
