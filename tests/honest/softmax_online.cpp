// honest: task=softmax
// Maximum and sum in one pass.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float top = row[0], sum = 1;
    for (int c = 1; c < kColumns; ++c) {
      if (row[c] > top) {
        sum = sum * std::exp(top - row[c]) + 1;
        top = row[c];
      } else {
        sum += row[c] == top ? 1 : std::exp(row[c] - top);  // both may be -inf
      }
    }
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = std::exp(row[c] - top) / sum;
  }
}
