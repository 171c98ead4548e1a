// honest: task=waves
// pragma-flags: -O3 -march=native -ffast-math
// Sines by the vector functions of the C library (libmvec), which -ffast-math lets the compiler call.
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}
