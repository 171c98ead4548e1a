// honest: task=counts
// Integer output, counted in 32 bits.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    int positive = 0;
    for (int c = 0; c < kColumns; ++c) positive += row[c] > 0;
    out[r] = positive;
  }
}
