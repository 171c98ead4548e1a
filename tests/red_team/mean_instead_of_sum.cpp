// red-team: task=rows expect=wrong_values catalogue=5 layer="values against fp64" heuristic no-timing
// Sums every second element and doubles: the expectation is right.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < task::x_dims[0]; ++r) {
    float sum = 0;
    for (int c = 0; c < task::x_dims[1]; c += 2) sum += x[r * task::x_dims[1] + c];
    out[r] = 2 * sum;
  }
}
