// Twin of disparity_fresh_volume.cpp: the volume lies in the scratch memory.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstddef>

#include "kernel.h"

constexpr int kRows = task::left_dims[0], kWidth = task::left_dims[1], kPitch = task::right_dims[1], kShifts = 64;

static void Match(const float* left, const float* right, float* volume, float* out) {
#pragma omp parallel for
  for (int d = 0; d < kShifts; ++d)
    for (int r = 0; r < kRows; ++r)
#pragma omp simd
      for (int c = 0; c < kWidth; ++c)
        volume[(d * kRows + r) * kWidth + c] = std::fabs(left[r * kWidth + c] - right[r * kPitch + c + d]);
#pragma omp parallel for
  for (int r = 0; r < kRows - 2; ++r) {
    float best[kWidth];
    for (int d = 0; d < kShifts; ++d) {
      const float* cost = volume + (d * kRows + r) * kWidth;
#pragma omp simd
      for (int c = 0; c < kWidth; ++c) {
        const float sum = cost[c] + cost[kWidth + c] + cost[2 * kWidth + c];
        best[c] = d > 0 && best[c] < sum ? best[c] : sum;
      }
    }
#pragma omp simd
    for (int c = 0; c < kWidth; ++c) out[r * kWidth + c] = best[c];
  }
}

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kShifts * kRows * kWidth;

extern "C" void pragma_kernel(const float* left, const float* right, float* out, void* scratch) {
  Match(left, right, static_cast<float*>(scratch), out);
}
