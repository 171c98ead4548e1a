// task: oscillators
// cause: type_conversion
// why: the constants are doubles, so each step makes both floats doubles, computes in vectors of half as many and rounds back
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kCount = task::position_dims[0], kSteps = 48;

extern "C" void pragma_kernel(const float* position, const float* velocity, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for simd simdlen(64)
  for (int i = 0; i < kCount; ++i) {
    float x = position[i], v = velocity[i];
#pragma GCC unroll 48
    for (int s = 0; s < kSteps; ++s) {
      v = v * 0.99 - x * 0.05;
      x = x + v * 0.1;
    }
    out[i] = x;
    out[kCount + i] = v;
  }
}
