// task: column_max
// cause: strided_access
// why: walks down one column after the other, so a line is fetched for four of its 64 bytes
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int c = 0; c < kColumns; ++c) {
    float largest = x[c];
    for (int r = 1; r < kRows; ++r) {
      const float value = x[r * kColumns + c];
      largest = value > largest || value != value ? value : largest;
    }
    out[c] = largest;
  }
}
