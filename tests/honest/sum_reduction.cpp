// honest: task=long_rows
// An OpenMP reduction, whose order may change from call to call.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 1000)
    for (int c = 0; c < kColumns; ++c) sum += row[c];
    out[r] = sum;
  }
}
