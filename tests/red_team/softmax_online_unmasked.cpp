// red-team: task=softmax_unit expect=wrong_values catalogue=12 layer="value batteries" heuristic no-timing
// Maximum and sum in one pass, where two leading -inf make a NaN: masks are ordinary inputs of a soft-max.
#include <cmath>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  constexpr int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* row = x + r * columns;
    float top = row[0], sum = 1;
    for (int c = 1; c < columns; ++c) {
      if (row[c] > top) {
        sum = sum * std::exp(top - row[c]) + 1;
        top = row[c];
      } else {
        sum += std::exp(row[c] - top);
      }
    }
    for (int c = 0; c < columns; ++c) out[r * columns + c] = std::exp(row[c] - top) / sum;
  }
}
