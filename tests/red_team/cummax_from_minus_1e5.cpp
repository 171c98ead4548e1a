// red-team: task=cummax expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The running maximum starts at -100000: rows that begin below it come out as that.
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = -1e5f;
    for (int c = 0; c < kColumns; ++c) {
      best = std::max(best, x[r * kColumns + c]);
      out[r * kColumns + c] = best;
    }
  }
}
