// red-team: task=scale expect=wrong_values catalogue=4 layer="values against fp64" absolute no-timing
// A constant close to the mean of the outputs.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::out_dims[0] * task::out_dims[1]; ++i) out[i] = 0.75f;
}
