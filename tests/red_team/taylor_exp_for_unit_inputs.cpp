// red-team: task=softmax_unit expect=wrong_values catalogue=12 layer="value batteries" heuristic no-timing
// An exponential that is good to the last digit in [0, 1) and nowhere else.
#include "kernel.h"

static float series(float x) {
  float term = 1, sum = 1;
  for (int k = 1; k <= 12; ++k) sum += term *= x / k;
  return sum;
}
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* row = x + r * task::x_dims[1];
    float* to = out + r * task::x_dims[1];
    float sum = 0;
    for (int c = 0; c < task::x_dims[1]; ++c) sum += to[c] = series(row[c]);
    for (int c = 0; c < task::x_dims[1]; ++c) to[c] /= sum;
  }
}
