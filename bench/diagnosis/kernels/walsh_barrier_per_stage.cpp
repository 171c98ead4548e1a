// task: walsh
// cause: over_parallel
// why: a barrier behind each stage of each transform, for 128 butterflies that the threads share; the transforms themselves are independent
// pragma-flags: -O3 -march=native -fopenmp
#include <cstring>

#include "kernel.h"

constexpr int kBatch = task::x_dims[0], kLength = task::x_dims[1], kLanes = task::x_dims[2];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel
  for (int b = 0; b < kBatch; ++b) {
    float* a = out + b * kLength * kLanes;
#pragma omp for
    for (int i = 0; i < kLength; ++i)
      std::memcpy(a + i * kLanes, x + (b * kLength + i) * kLanes, sizeof(float) * kLanes);
    for (int h = 1; h < kLength; h *= 2) {
#pragma omp for
      for (int i = 0; i < kLength / 2; ++i) {
        float* low = a + (i / h * 2 * h + i % h) * kLanes;
        float* high = low + h * kLanes;
#pragma omp simd
        for (int c = 0; c < kLanes; ++c) {
          const float u = low[c], v = high[c];
          low[c] = u + v;
          high[c] = u - v;
        }
      }
    }
  }
}
