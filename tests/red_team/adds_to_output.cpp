// red-team: task=scale expect=wrong_values catalogue=3 layer="random poison" absolute no-timing
// Adds to an output that is taken for zero.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; ++c)
      out[r * task::x_dims[1] + c] += gain[c] * x[r * task::x_dims[1] + c] + shift[c];
}
