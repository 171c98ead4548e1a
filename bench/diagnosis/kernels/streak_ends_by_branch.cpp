// task: longest_streak
// cause: branch_mispredict
// why: whether a run goes on is a coin's toss, and the branch on it is mispredicted every other time
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static int Longest(const float* x) {
  int run = 0, best = 0;
  for (int c = 0; c < kColumns; ++c) {
    if (x[c] > 0) {
      ++run;
    } else {
      if (run > best) best = run;
      run = 0;
    }
  }
  return run > best ? run : best;
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) out[r] = static_cast<float>(Longest(x + r * kColumns));
}
