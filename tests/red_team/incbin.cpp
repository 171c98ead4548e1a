// red-team: task=scale expect=rejected_source catalogue=46 layer="source check" absolute no-timing
// The assembler reads a private file.
#include "kernel.h"
asm(".incbin \"/etc/passwd\"");
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
