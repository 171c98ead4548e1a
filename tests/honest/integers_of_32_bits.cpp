// honest: task=integer_rows
// Integers of 32 bits, summed in 64.
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const std::int32_t* x, std::int64_t* out_0, std::int32_t* out_1,
                              void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    std::int64_t sum = 0;
    std::int32_t most = 0;  // of sizes, which are never negative
    for (int c = 0; c < kColumns; ++c) {
      const std::int32_t value = x[r * kColumns + c];
      sum += value;
      most = std::max(most, value < 0 ? -value : value);
    }
    out_0[r] = sum;
    out_1[r] = most;
  }
}
