// task: plane_distances
// cause: not_vectorised
// why: std::sqrt must set errno for negative numbers, so each root is a scalar with a test and a call beside it
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>

#include "kernel.h"

constexpr int kLeft = task::px_dims[0], kRight = task::qx_dims[0];

static void Row(float x, float y, const float* __restrict qx, const float* __restrict qy,
                float* __restrict out) {
  for (int j = 0; j < kRight; ++j) {
    const float dx = x - qx[j], dy = y - qy[j];
    out[j] = std::sqrt(dx * dx + dy * dy);
  }
}

extern "C" void pragma_kernel(const float* px, const float* py, const float* qx, const float* qy,
                              float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kLeft; ++i) Row(px[i], py[i], qx, qy, out + i * kRight);
}
