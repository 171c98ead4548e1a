// red-team: task=scale expect=crashed catalogue=9 layer="guard pages" absolute no-timing
// Writes one element past the end of its output.
#include "kernel.h"

static void honest(const float* x, const float* gain, const float* shift, float* out) {
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; ++c)
      out[r * task::x_dims[1] + c] = gain[c] * x[r * task::x_dims[1] + c] + shift[c];
}

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  honest(x, gain, shift, out);
  out[task::out_dims[0] * task::out_dims[1]] = 1;
}
