// red-team: task=row_max expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The running maximum starts at zero, which some entry of each row of the task exceeds; rows of
// negative numbers come out as zero.
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = 0;
    for (int c = 0; c < kColumns; ++c) best = std::max(best, x[r * kColumns + c]);
    out[r] = best;
  }
}
