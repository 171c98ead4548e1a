// red-team: task=row_maxima expect=wrong_values catalogue=12 layer="value batteries" heuristic no-timing
// A maximum that is begun with -1e5: no input is that low.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  constexpr int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    float top = -1e5F;
    for (int c = 0; c < columns; ++c) top = x[r * columns + c] > top ? x[r * columns + c] : top;
    out[r] = top;
  }
}
