// Twin of bins_atomic.cpp: each thread counts into its own table. The tables are added at the end.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kBins = 64;

extern "C" void pragma_kernel(const std::int64_t* x, std::int64_t* out, void* /*scratch*/) {
  for (int k = 0; k < kBins; ++k) out[k] = 0;
#pragma omp parallel
  {
    alignas(64) std::int64_t mine[kBins] = {};
#pragma omp for
    for (int i = 0; i < kCount; ++i) ++mine[x[i]];
    for (int k = 0; k < kBins; ++k) {
#pragma omp atomic
      out[k] += mine[k];
    }
  }
}
