// task: bins
// cause: atomics_contention
// why: the threads count into one table with atomic increments
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kBins = 64;

extern "C" void pragma_kernel(const std::int64_t* x, std::int64_t* out, void* /*scratch*/) {
  for (int k = 0; k < kBins; ++k) out[k] = 0;
#pragma omp parallel for
  for (int i = 0; i < kCount; ++i) {
#pragma omp atomic
    ++out[x[i]];
  }
}
