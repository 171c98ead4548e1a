// task: median5
// cause: branch_mispredict
// why: an insertion sort of five values: where each value stops is a matter of chance, and so is each branch
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kPitch = task::x_dims[1], kColumns = kPitch - 4;

static float Median(const float* x) {
  float sorted[5];
  for (int i = 0; i < 5; ++i) {
    const float value = x[i];
    int at = i;
    while (at > 0 && sorted[at - 1] > value) {
      sorted[at] = sorted[at - 1];
      --at;
    }
    sorted[at] = value;
  }
  return sorted[2];
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = Median(x + r * kPitch + c);
}
