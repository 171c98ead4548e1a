// red-team: task=scale expect=rejected_source,compile_error catalogue=49 layer="diagnostics are data" absolute no-timing
// Moves its errors into another file.
#include "kernel.h"
#line 1 "comparator.cc"
int wrong = "text";
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
