// red-team: task=scale expect=wrong_values catalogue=7 layer="comparator" absolute no-timing
// NaN everywhere: "difference > tolerance" is false for it.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::out_dims[0] * task::out_dims[1]; ++i) out[i] = __builtin_nanf("");
}
