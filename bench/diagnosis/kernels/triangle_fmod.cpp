// task: triangle_waves
// cause: libm_calls
// why: std::fmod is a call for every element and overtone, only to get the part behind the point
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
      const float part = std::fmod(turns, 1.0F);
      total += std::abs(part - 0.5F) * (1.0F / static_cast<float>(k * k));
    }
    out[i] = total;
  }
}
