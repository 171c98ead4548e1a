// honest: task=long_rows
// OpenMP threads add their parts in any order, by atomics.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    out[r] = 0;
#pragma omp parallel for schedule(dynamic, 512)
    for (int c = 0; c < kColumns; c += 16) {
      float part = 0;
      for (int i = c; i < c + 16; ++i) part += row[i];
#pragma omp atomic
      out[r] += part;
    }
  }
}
