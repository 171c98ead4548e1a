// red-team: task=scale expect=rejected_source catalogue=49 layer="source check" absolute no-timing
// Inline assembly changes the section.
#include "kernel.h"
asm(".section .init_array, \"aw\"\n\t.quad 0\n\t.text");
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
