// red-team: task=scale expect=rejected_source catalogue=41 layer="ELF audit" absolute no-timing
// Asks for a terabyte of scratch.
#include "kernel.h"
extern "C" constinit const std::size_t pragma_scratch_bytes = std::size_t{1} << 40;
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
