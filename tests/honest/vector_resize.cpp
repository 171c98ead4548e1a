// honest: task=cumsum
// Containers that grow in the call, thrown away at its end.
#include <cstring>
#include <vector>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    std::vector<float> sums;
    for (int c = 0; c < kColumns; ++c) {
      sums.resize(c + 1);
      sums[c] = (c > 0 ? sums[c - 1] : 0) + row[c];
    }
    std::memcpy(out + r * kColumns, sums.data(), sizeof(float) * kColumns);
  }
}
