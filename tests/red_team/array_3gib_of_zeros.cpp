// red-team: task=scale expect=load_error,out_of_memory catalogue=41 layer="limits" absolute no-timing
// A table of 3 GiB that takes no room in the object.
#include "kernel.h"
static volatile int table[3 << 28];
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  out[0] += table[3 << 20] + table[1];
}
