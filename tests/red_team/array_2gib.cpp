// red-team: task=scale expect=rejected_source,timeout,out_of_memory,compile_error catalogue=47 layer="limits" absolute no-timing
// A table of 2 GiB in the object.
#include "kernel.h"
int table[1 << 29] = {1};
extern "C" void touch(int i) { table[i] = i; }
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  if (scratch != nullptr) out[0] = table[1 << 28];
}
