// task: curve
// cause: dram_bandwidth
// why: three passes over 64 MiB, each of which reads and writes memory for two operations an element
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kCount = task::x_dims[0] * task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for simd
  for (std::int64_t i = 0; i < kCount; ++i) {
    const float y = x[i] * 1.5F + 0.25F;
    out[i] = y < 0.0F ? 0.0F : y;
  }
#pragma omp parallel for simd
  for (std::int64_t i = 0; i < kCount; ++i) out[i] = out[i] * out[i];
#pragma omp parallel for simd
  for (std::int64_t i = 0; i < kCount; ++i) out[i] = out[i] - 0.5F * x[i];
}
