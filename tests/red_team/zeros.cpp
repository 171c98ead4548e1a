// red-team: task=scale expect=wrong_values catalogue=4 layer="values against fp64" absolute no-timing
// All zeros.
#include <cstring>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  std::memset(out, 0, sizeof(float) * task::out_dims[0] * task::out_dims[1]);
}
