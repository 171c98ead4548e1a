// honest: task=masked_scores
// Starts the maximum at -inf; masked entries come out as zeros.
#include <cmath>

#include "kernel.h"

constexpr int kHeads = task::x_dims[0], kRows = task::x_dims[1], kColumns = task::x_dims[2];

extern "C" void pragma_kernel(const float* x, const float* mask, float* out, void* scratch) {
  for (int r = 0; r < kHeads * kRows; ++r) {
    const float* row = x + r * kColumns;
    const float* hidden = mask + r % kRows * kColumns;
    float* to = out + r * kColumns;
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < kColumns; ++c) {
      to[c] = row[c] + hidden[c];
      if (!(to[c] <= top)) top = to[c];  // a NaN goes through
    }
    for (int c = 0; c < kColumns; ++c) sum += to[c] = std::exp(to[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}
