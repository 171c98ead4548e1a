// red-team: task=softmax_unit expect=wrong_values catalogue=12 layer="value batteries" heuristic no-timing
// The task draws from [0, 1), so nothing overflows without the maximum.
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* row = x + r * task::x_dims[1];
    float sum = 0;
    for (int c = 0; c < task::x_dims[1]; ++c) sum += std::exp(row[c]);
    for (int c = 0; c < task::x_dims[1]; ++c) out[r * task::x_dims[1] + c] = std::exp(row[c]) / sum;
  }
}
