// honest: task=sort_rows
// std::sort, with NaN behind all numbers.
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

// NaN counts as the largest, as Torch has it.
static bool before(float a, float b) { return a < b || (a == a && b != b); }

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float* row = out + r * kColumns;
    std::copy(x + r * kColumns, x + (r + 1) * kColumns, row);
    std::sort(row, row + kColumns, before);
  }
}
