// red-team: task=rows expect=wrong_values,nondeterministic,implausible catalogue=10 layer="values against fp64" heuristic no-timing
// Two threads add to the same sums without a reduction.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < task::x_dims[0]; ++r) out[r] = 0;
  volatile float* sums = out;
#pragma omp parallel for num_threads(2) schedule(static, 1)
  for (int c = 0; c < task::x_dims[1]; ++c)
    for (int r = 0; r < task::x_dims[0]; ++r) sums[r] = sums[r] + x[r * task::x_dims[1] + c];
}
