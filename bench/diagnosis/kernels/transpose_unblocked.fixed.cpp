// Twin of transpose_unblocked.cpp: works in blocks of sixteen by sixteen, whose lines stay in L1.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kBlock = 16;
static_assert(kRows % kBlock == 0 && kColumns % kBlock == 0);

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int first = 0; first < kColumns; first += kBlock)
    for (int row = 0; row < kRows; row += kBlock)
      for (int c = first; c < first + kBlock; ++c)
        for (int r = row; r < row + kBlock; ++r) out[c * kRows + r] = 2 * x[r * kColumns + c];
}
