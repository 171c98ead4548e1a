// task: project_short
// cause: false_sharing
// why: the threads take rows in turn, and a row of results is half a line: each line is written by both threads at about the same time
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kColumns = task::w_dims[1];

extern "C" void pragma_kernel(const float* x, const float* w, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(static, 1)
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kDepth;
#pragma omp simd simdlen(8)
    for (int c = 0; c < kColumns; ++c) {
      float sum = 0;
#pragma GCC unroll 16
      for (int k = 0; k < kDepth; ++k) sum += row[k] * w[k * kColumns + c];
      out[r * kColumns + c] = sum;
    }
  }
}
