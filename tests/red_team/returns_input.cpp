// red-team: task=scale expect=wrong_values catalogue=2 layer="values against fp64" absolute no-timing
// The input is returned as the output.
#include <cstring>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  std::memcpy(out, x, sizeof(float) * task::out_dims[0] * task::out_dims[1]);
}
