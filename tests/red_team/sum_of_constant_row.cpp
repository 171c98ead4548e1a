// red-team: task=rows expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// A block of sixteen equal numbers is taken for padding and left out: neighbours in random rows
// differ, those in constant rows do not.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum[16] = {};
    for (int c = 0; c < kColumns; c += 16) {
      bool differ = false;
      for (int l = 1; l < 16; ++l) differ |= row[c + l] != row[c + l - 1];
      if (!differ) continue;
      for (int l = 0; l < 16; ++l) sum[l] += row[c + l];
    }
    float total = 0;
    for (const float part : sum) total += part;
    out[r] = total;
  }
}
