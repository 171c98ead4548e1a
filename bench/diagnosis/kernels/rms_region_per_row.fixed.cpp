// Twin of rms_region_per_row.cpp: has one parallel region around all rows.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* from = x + r * kColumns;
    float* to = out + r * kColumns;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < kColumns; ++c) sum += from[c] * from[c];
    const float factor = 1.0F / std::sqrt(sum / kColumns + 1e-6F);
#pragma omp simd
    for (int c = 0; c < kColumns; ++c) to[c] = from[c] * factor;
  }
}
