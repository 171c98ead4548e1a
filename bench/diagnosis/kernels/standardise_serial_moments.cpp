// task: standardise
// cause: not_parallel
// why: the mean and the variance, two of three passes, are taken by one thread; only the last pass has both
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kCount = std::int64_t{task::x_dims[0]} * task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  float sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(64)
  for (std::int64_t i = 0; i < kCount; ++i) sum += x[i];
  const float mean = sum / kCount;

  float squares = 0;
#pragma omp simd reduction(+ : squares) simdlen(64)
  for (std::int64_t i = 0; i < kCount; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const float factor = 1.0F / std::sqrt(squares / kCount + 1e-5F);

#pragma omp parallel for simd
  for (std::int64_t i = 0; i < kCount; ++i) out[i] = (x[i] - mean) * factor;
}
