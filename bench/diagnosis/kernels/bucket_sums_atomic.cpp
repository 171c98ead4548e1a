// task: bucket_sums
// cause: atomics_contention
// why: both threads add every element to the same sixteen rows with atomic updates
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kWidth = task::x_dims[1], kBuckets = 16;

extern "C" void pragma_kernel(const float* x, const std::int64_t* bucket, float* out,
                              void* /*scratch*/) {
  for (int e = 0; e < kBuckets * kWidth; ++e) out[e] = 0;
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    float* to = out + bucket[r] * kWidth;
    for (int c = 0; c < kWidth; ++c) {
#pragma omp atomic
      to[c] += x[r * kWidth + c];
    }
  }
}
