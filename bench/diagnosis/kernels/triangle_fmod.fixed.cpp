// Twin of triangle_fmod.cpp: what is in front of the point is taken off, in vectors.
// pragma-flags: -O3 -march=native -fopenmp -fno-trapping-math
#include <cmath>

#include "kernel.h"

constexpr int kCount = task::phase_dims[0], kOvertones = 8;

extern "C" void pragma_kernel(const float* phase, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kCount; ++i) {
    const float p = std::abs(phase[i]);
    float total = 0;
#pragma GCC unroll 8
    for (int k = 1; k <= kOvertones; ++k) {
      const float turns = p * static_cast<float>(k);
      const float part = turns - std::trunc(turns);
      total += std::abs(part - 0.5F) * (1.0F / static_cast<float>(k * k));
    }
    out[i] = total;
  }
}
