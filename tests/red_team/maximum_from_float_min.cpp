// red-team: task=row_max expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Takes numeric_limits<float>::min() for the lowest number: it is the smallest positive one.
#include <algorithm>
#include <limits>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = std::numeric_limits<float>::min();
    for (int c = 0; c < kColumns; ++c) best = std::max(best, x[r * kColumns + c]);
    out[r] = best;
  }
}
