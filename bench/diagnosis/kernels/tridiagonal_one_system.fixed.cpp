// Twin of tridiagonal_one_system.cpp: eight systems advance side by side
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kSystems = task::diagonal_dims[0], kSize = task::diagonal_dims[1], kTile = 8;
static_assert(kSystems % kTile == 0);

static void Solve(const float* diagonal, const float* right, float* out) {
  float upper[kSize][kTile], value[kSize][kTile], c[kTile] = {}, v[kTile] = {};
  for (int k = 0; k < kSize; ++k) {
    for (int s = 0; s < kTile; ++s) {
      c[s] = 1 / (std::fabs(diagonal[s * kSize + k]) + 2 - c[s]);
      v[s] = (right[s * kSize + k] + v[s]) * c[s];
      upper[k][s] = c[s];
      value[k][s] = v[s];
    }
  }
  for (int s = 0; s < kTile; ++s) out[s * kSize + kSize - 1] = v[s];
  for (int k = kSize - 2; k >= 0; --k) {
    for (int s = 0; s < kTile; ++s) {
      v[s] = value[k][s] + upper[k][s] * v[s];
      out[s * kSize + k] = v[s];
    }
  }
}

extern "C" void pragma_kernel(const float* diagonal, const float* right, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int s = 0; s < kSystems; s += kTile)
    Solve(diagonal + s * kSize, right + s * kSize, out + s * kSize);
}
