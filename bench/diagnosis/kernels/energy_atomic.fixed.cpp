// Twin of energy_atomic.cpp: uses a reduction, so each thread has its own sum.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kCount = task::x_dims[0];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  double total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < kCount; ++i) {
    const double square = static_cast<double>(x[i]) * x[i];
    total += square;
  }
  *out = static_cast<float>(total);
}
