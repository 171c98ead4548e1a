// task: transpose
// cause: strided_access
// why: reads along rows and writes down columns: a line of the result is fetched and written back for four bytes
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) out[c * kRows + r] = 2 * x[r * kColumns + c];
}
