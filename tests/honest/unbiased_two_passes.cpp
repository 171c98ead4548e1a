// honest: task=variance_unbiased
// Mean first, then squared differences to it.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0, squares = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c];
    const float mean = sum / kColumns;
    for (int c = 0; c < kColumns; ++c) squares += (row[c] - mean) * (row[c] - mean);
    out[r] = squares / (kColumns - 1);
  }
}
