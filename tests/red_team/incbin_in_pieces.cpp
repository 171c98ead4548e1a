// red-team: task=scale expect=rejected_source,compile_error catalogue=46 layer="build jail" absolute no-timing
// The same, with the directive in two string literals.
#include "kernel.h"
asm(".inc"
    "bin \"/etc/passwd\"");
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
