// honest: task=softmax
// Compiled as C++17 with the extensions of GNU.
// pragma-flags: -O3 -march=native -fopenmp -std=gnu++17
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) sum += to[c] = std::exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  compute(x, out, kRows);
}
