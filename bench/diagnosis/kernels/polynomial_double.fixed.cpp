// Twin of polynomial_double.cpp: uses float literals.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kRounds = 6;

static void Row(const float* __restrict x, float* __restrict out) {
  constexpr float kFactors[] = {-0.02F, 0.03F, -0.05F, 0.08F, -0.13F, 0.21F, -0.34F, 0.55F};
  for (int c = 0; c < kColumns; ++c) {
    float y = 0.011F;
    for (int i = 0; i < kRounds; ++i)
      for (const float factor : kFactors) y = y * x[c] + factor;
    out[c] = y;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Row(x + r * kColumns, out + r * kColumns);
}
