// Twin of median_sorts_by_insertion.cpp: an exchange is a minimum and a maximum instead of a branch
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kPitch = task::x_dims[1], kColumns = kPitch - 4;

static float Median(const float* x) {
  float sorted[5];
  for (int i = 0; i < 5; ++i) {
    float value = x[i];
#pragma GCC unroll 5
    for (int at = 0; at < i; ++at) {
      const float least = std::min(sorted[at], value);
      value = std::max(sorted[at], value);
      sorted[at] = least;
    }
    sorted[i] = value;
  }
  return sorted[2];
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = Median(x + r * kPitch + c);
}
