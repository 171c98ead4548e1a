// honest: task=argmax
// Eight running maxima; equal values keep the first position.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float best[8];
    int at[8];
    for (int l = 0; l < 8; ++l) best[l] = row[l], at[l] = l;
    for (int c = 8; c < kColumns; ++c) {
      const int l = c % 8;
      if (row[c] > best[l]) best[l] = row[c], at[l] = c;
    }
    int first = 0;
    for (int l = 1; l < 8; ++l)
      if (best[l] > best[first] || (best[l] == best[first] && at[l] < at[first])) first = l;
    out[r] = at[first];
  }
}
