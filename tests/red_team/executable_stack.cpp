// red-team: task=scale expect=rejected_source catalogue=45 layer="ELF audit" absolute no-timing
// Asks for a stack that can be executed.
#include "kernel.h"
asm(".pushsec"
    "tion .note.GNU-stack,\"x\",@progbits\n\t.popsec"
    "tion");
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
