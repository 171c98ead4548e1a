// red-team: task=row_max expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Takes -1e30 for the lowest number: rows that lie below it, or are -inf throughout, come out as
// that.
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = -1e30f;
    for (int c = 0; c < kColumns; ++c) best = std::max(best, x[r * kColumns + c]);
    out[r] = best;
  }
}
