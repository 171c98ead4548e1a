// Twin of smooth_sweeps.cpp: does all steps of a row, which stays in L1, before the next row.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstring>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kSteps = 12;

static void Step(const float* __restrict x, float* __restrict h) {
  for (int c = 0; c < kColumns; ++c) h[c] = 0.5F * h[c] + x[c];
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(out + r * kColumns, x + r * kColumns, sizeof(float) * kColumns);
    for (int step = 0; step < kSteps; ++step) Step(x + r * kColumns, out + r * kColumns);
  }
}
