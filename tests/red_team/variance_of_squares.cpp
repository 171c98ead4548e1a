// red-team: task=row_variances expect=wrong_values catalogue=12 layer="value batteries" heuristic no-timing
// Mean of squares less the square of the mean: nothing is left of a spread that is small beside the mean.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  constexpr int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    float sum = 0, squares = 0;
    for (int c = 0; c < columns; ++c) {
      sum += x[r * columns + c];
      squares += x[r * columns + c] * x[r * columns + c];
    }
    const float mean = sum / columns;
    out[r] = squares / columns - mean * mean;
  }
}
