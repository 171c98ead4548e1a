// red-team: task=cummax expect=wrong_values catalogue=7 layer="batteries with infinities" heuristic own no-timing
// The running maximum starts at the lowest finite number: entries before the first that is not
// masked by -inf come out as -3.4e38.
#include <algorithm>
#include <limits>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = std::numeric_limits<float>::lowest();
    for (int c = 0; c < kColumns; ++c) {
      best = std::max(best, x[r * kColumns + c]);
      out[r * kColumns + c] = best;
    }
  }
}
