// honest: task=variance_unbiased
// One pass over differences to the first entry of the row.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    const float first = row[0];
    float sum = 0, squares = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float d = row[c] - first;
      sum += d;
      squares += d * d;
    }
    out[r] = (squares - sum * sum / kColumns) / (kColumns - 1);
  }
}
