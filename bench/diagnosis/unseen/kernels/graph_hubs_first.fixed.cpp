// Twin of graph_hubs_first.cpp: the threads take sixteen nodes at a time.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kNodes = task::x_dims[0], kWidth = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const std::int64_t* neighbours, const float* weights,
                              const std::int64_t* ends, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < kNodes; ++i) {
    float sum[kWidth] = {0};
    for (std::int64_t e = i == 0 ? 0 : ends[i - 1]; e < ends[i]; ++e) {
      const float* from = x + neighbours[e] * kWidth;
      const float weight = weights[e];
#pragma omp simd
      for (int c = 0; c < kWidth; ++c) sum[c] += weight * from[c];
    }
#pragma omp simd
    for (int c = 0; c < kWidth; ++c) out[i * kWidth + c] = sum[c];
  }
}
