// Twin of streak_ends_by_branch.cpp: the run's length is multiplied by 0 or 1 instead.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static int Longest(const float* x) {
  int run = 0, best = 0;
  for (int c = 0; c < kColumns; ++c) {
    run = (run + 1) * static_cast<int>(x[c] > 0);
    best = run > best ? run : best;
  }
  return best;
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) out[r] = static_cast<float>(Longest(x + r * kColumns));
}
