// Twin of column_max_walk.cpp: rows are the outer loop, and each thread has a part of the columns.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kPart = 500;
static_assert(kColumns % kPart == 0);

static void Part(const float* __restrict x, float* __restrict out) {
  for (int c = 0; c < kPart; ++c) out[c] = x[c];
  for (int r = 1; r < kRows; ++r) {
    for (int c = 0; c < kPart; ++c) {
      const float value = x[r * kColumns + c];
      out[c] = value > out[c] || value != value ? value : out[c];
    }
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int first = 0; first < kColumns; first += kPart) Part(x + first, out + first);
}
