// Twin of calibration_global_floor.cpp: std::floor has a version for float.
// pragma-flags: -O3 -march=native -fopenmp -fno-trapping-math
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kLength = task::x_dims[1], kSteps = task::steps_dims[0], kBlock = 4;

static float Error(float v, float step, float inverse) {
  const auto rounded = std::floor(v * inverse + 0.5F);
  const auto off = v - rounded * step;
  return static_cast<float>(off * off);
}

extern "C" void pragma_kernel(const float* x, const float* steps, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r)
    for (int k = 0; k < kSteps; k += kBlock) {
      const float* from = x + r * kLength;
      const float a = steps[k], b = steps[k + 1], c = steps[k + 2], d = steps[k + 3];
      const float ia = 1 / a, ib = 1 / b, ic = 1 / c, id = 1 / d;
      float ea = 0, eb = 0, ec = 0, ed = 0;
#pragma omp simd reduction(+ : ea, eb, ec, ed)
      for (int t = 0; t < kLength; ++t) {
        ea += Error(from[t], a, ia);
        eb += Error(from[t], b, ib);
        ec += Error(from[t], c, ic);
        ed += Error(from[t], d, id);
      }
      float* to = out + r * kSteps + k;
      to[0] = ea;
      to[1] = eb;
      to[2] = ec;
      to[3] = ed;
    }
}
