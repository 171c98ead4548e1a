// red-team: task=softmax expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The last block is filled up with -10000, whose exponential is taken for zero: in rows that lie
// below, the padding takes all.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  constexpr int kPadded = (kColumns + 15) / 16 * 16;
  for (int r = 0; r < kRows; ++r) {
    float row[kPadded];
    float top[16], sum[16] = {};
    for (int c = 0; c < kPadded; ++c) row[c] = c < kColumns ? x[r * kColumns + c] : -1e4f;
    for (int l = 0; l < 16; ++l) top[l] = row[l];
    for (int c = 16; c < kPadded; ++c) top[c % 16] = std::max(top[c % 16], row[c]);
    const float most = *std::max_element(top, top + 16);
    for (int c = 0; c < kPadded; ++c) sum[c % 16] += row[c] = std::exp(row[c] - most);
    float total = 0;
    for (const float part : sum) total += part;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] / total;
  }
}
