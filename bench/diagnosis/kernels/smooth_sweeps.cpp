// task: smooth
// cause: l2_l3_bound
// why: each of twelve steps sweeps over all rows, 8 MiB that no near cache holds, though a row's steps need that row only
// pragma-flags: -O3 -march=native -fopenmp
#include <cstring>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kSteps = 12;

static void Step(const float* __restrict x, float* __restrict h) {
  for (int c = 0; c < kColumns; ++c) h[c] = 0.5F * h[c] + x[c];
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int r = 0; r < kRows; ++r)
      std::memcpy(out + r * kColumns, x + r * kColumns, sizeof(float) * kColumns);
    for (int step = 0; step < kSteps; ++step) {
#pragma omp for schedule(static)
      for (int r = 0; r < kRows; ++r) Step(x + r * kColumns, out + r * kColumns);
    }
  }
}
