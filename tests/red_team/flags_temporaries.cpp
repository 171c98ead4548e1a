// red-team: task=scale expect=rejected_source catalogue=48 layer="flag allow-list" absolute no-timing
// Files that the compiler leaves behind.
// pragma-flags: -O3 -save-temps=obj -fdump-tree-all
#include "kernel.h"
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
