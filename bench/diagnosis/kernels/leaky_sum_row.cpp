// task: leaky_sum
// cause: dependency_chain
// why: one row at a time, and within a row each value waits for the one before it
// pragma-flags: -O3 -march=native -fopenmp -ffinite-math-only -fno-signed-zeros
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kSteps = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    float state = 0;
    for (int t = 0; t < kSteps; ++t) {
      state = 0.9F * std::min(std::max(state, -3.0F), 3.0F) + x[r * kSteps + t];
      out[r * kSteps + t] = state;
    }
  }
}
