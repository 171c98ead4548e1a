// task: positive_energy
// cause: branch_mispredict
// why: whether an element counts is a coin's toss, and the branch on it is mispredicted for nearly every second one
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    float even = 0, odd = 0;
    for (int c = r * kColumns; c < (r + 1) * kColumns; c += 2) {
      if (x[c] > 0.1F) even += (x[c] - 0.1F) * (x[c] - 0.1F);
      if (x[c + 1] > 0.1F) odd += (x[c + 1] - 0.1F) * (x[c + 1] - 0.1F);
    }
    out[r] = even + odd;
  }
}
