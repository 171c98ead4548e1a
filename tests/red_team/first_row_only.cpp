// red-team: task=scale expect=wrong_values catalogue=5 layer="random poison" absolute no-timing
// Writes the first row only.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int c = 0; c < task::x_dims[1]; ++c) out[c] = gain[c] * x[c] + shift[c];
}
