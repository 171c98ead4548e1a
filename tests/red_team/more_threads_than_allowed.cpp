// red-team: task=waves expect=implausible,sandbox_violation catalogue=32 layer="CPU time accounted" absolute threads=1 alone
// With one thread allowed, uses two of OpenMP.
#include <cmath>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}
