// honest: task=softmax_float16
// Half precision in and out, float between.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const _Float16* x, _Float16* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float row[kColumns];
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < kColumns; ++c) {
      row[c] = static_cast<float>(x[r * kColumns + c]);
      top = std::max(top, row[c]);
    }
    for (int c = 0; c < kColumns; ++c) sum += row[c] = std::exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c)
      out[r * kColumns + c] = static_cast<_Float16>(row[c] / sum);
  }
}
