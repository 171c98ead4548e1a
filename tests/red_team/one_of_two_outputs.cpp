// red-team: task=pair expect=wrong_values catalogue=2 layer="random poison" absolute no-timing
// The second output is a view of the first, as it were: it is not written.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out0, float* out1, void* scratch) {
  (void)out1;
  for (int r = 0; r < task::x_dims[0]; ++r) {
    float sum = 0;
    for (int c = 0; c < task::x_dims[1]; ++c) sum += x[r * task::x_dims[1] + c];
    out0[r] = sum / task::x_dims[1];
  }
}
