// red-team: task=rows expect=wrong_values catalogue=7 layer="comparator" absolute no-timing
// Right but for one NaN: a maximum of errors drops it.
#include "kernel.h"

static void honest(const float* x, float* out) {
  for (int r = 0; r < task::x_dims[0]; ++r) {
    float sum = 0;
    for (int c = 0; c < task::x_dims[1]; ++c) sum += x[r * task::x_dims[1] + c];
    out[r] = sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  honest(x, out);
  out[17] = __builtin_nanf("");
}
