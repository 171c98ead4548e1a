// task: noise_gate
// cause: branch_mispredict
// why: whether the gate opens or closes depends on noise, and the code branches on its state and on the sample
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kSteps = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* from = x + r * kSteps;
    float* to = out + r * kSteps;
    bool open = false;
    for (int t = 0; t < kSteps; ++t) {
      const float v = from[t];
      if (open) {
        if (!(v >= -0.5F)) open = false;
      } else {
        if (v > 0.5F) open = true;
      }
      if (open) {
        to[t] = v;
      } else {
        to[t] = 0;
      }
    }
  }
}
