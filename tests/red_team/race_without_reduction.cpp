// red-team: task=rows expect=wrong_values,nondeterministic,implausible catalogue=10 layer="values against fp64" heuristic no-timing
// Two threads add to the same sums without a reduction.
#include <omp.h>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  constexpr int kColumns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    float sum = 0;
    volatile float* shared = &sum;
#pragma omp parallel num_threads(2)
    for (int c = omp_get_thread_num(); c < kColumns; c += 2) {
      const float before = *shared;
#pragma omp barrier  // as the scheduler might have it
      *shared = before + x[r * kColumns + c];
    }
    out[r] = sum;
  }
}
