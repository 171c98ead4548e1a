// red-team: task=scale expect=compile_error,rejected_source catalogue=48 layer="compiler" absolute no-timing
// Names a plugin in a #pragma.
#include "kernel.h"
#pragma GCC optimize("-fplugin=/out/evil.so")
#pragma GCC poison pragma_filter_run
#pragma GCC dependency "/etc/passwd"
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
