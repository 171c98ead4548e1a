// Twin of dots_recursive_tasks.cpp: the recursion stops at 32768 elements.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kCount = task::x_dims[0];
constexpr int kLeaf = 32768;  // below this many elements no more tasks are made

struct Sums {
  float xx, xy, xz;
};

static Sums Dots(const float* x, const float* y, const float* z, int count) {
  if (count <= kLeaf) {
    float xx = 0, xy = 0, xz = 0;
#pragma omp simd reduction(+ : xx, xy, xz)
    for (int i = 0; i < count; ++i) {
      xx += x[i] * x[i];
      xy += x[i] * y[i];
      xz += x[i] * z[i];
    }
    return {xx, xy, xz};
  }
  const int half = count / 2;
  Sums left, right;
#pragma omp task shared(left)
  left = Dots(x, y, z, half);
  right = Dots(x + half, y + half, z + half, count - half);
#pragma omp taskwait
  return {left.xx + right.xx, left.xy + right.xy, left.xz + right.xz};
}

extern "C" void pragma_kernel(const float* x, const float* y, const float* z, float* out,
                              void* /*scratch*/) {
#pragma omp parallel
#pragma omp single
  {
    const Sums sums = Dots(x, y, z, kCount);
    out[0] = sums.xx;
    out[1] = sums.xy;
    out[2] = sums.xz;
  }
}
