// task: polynomial
// cause: type_conversion
// why: literals without F: each element is made a double, worked on in vectors of half as many, and made a float again
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kRounds = 6;

static void Row(const float* __restrict x, float* __restrict out) {
  constexpr double kFactors[] = {-0.02, 0.03, -0.05, 0.08, -0.13, 0.21, -0.34, 0.55};
  for (int c = 0; c < kColumns; ++c) {
    double y = 0.011;
    for (int i = 0; i < kRounds; ++i)
      for (const double factor : kFactors) y = y * x[c] + factor;
    out[c] = static_cast<float>(y);
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Row(x + r * kColumns, out + r * kColumns);
}
