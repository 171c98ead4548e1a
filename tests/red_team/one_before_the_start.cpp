// red-team: task=scale expect=crashed catalogue=9 layer="guard pages" absolute no-timing
// Reads one element before its input.
#include "kernel.h"

static void honest(const float* x, const float* gain, const float* shift, float* out) {
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; ++c)
      out[r * task::x_dims[1] + c] = gain[c] * x[r * task::x_dims[1] + c] + shift[c];
}

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  honest(x, gain, shift, out);
  if (*static_cast<const volatile float*>(x - 1) == 12345) out[0] = 0;
}
