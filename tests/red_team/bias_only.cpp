// red-team: task=linear expect=wrong_values catalogue=4 layer="values against fp64" absolute no-timing
// Leaves out the product: the output is the bias.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* layer_weight, const float* layer_bias,
                              float* out, void* scratch) {
  for (int r = 0; r < task::out_dims[0]; ++r)
    for (int u = 0; u < task::out_dims[1]; ++u) out[r * task::out_dims[1] + u] = layer_bias[u];
}
