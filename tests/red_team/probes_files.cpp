// red-team: task=scale expect=rejected_source,compile_error catalogue=46 layer="build jail" absolute no-timing
// Asks whether a private file exists, and fails to compile if so.
#include "kernel.h"
#if __has_include("/etc/passwd") || __has_include("/etc/shadow")
#define FOUND 1
#endif
#ifndef FOUND
#error "nothing to find: as it should be"
#endif
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
