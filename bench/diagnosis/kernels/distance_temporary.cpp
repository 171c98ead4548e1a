// task: distance
// cause: dram_bandwidth
// why: the differences go through 64 MiB of scratch memory before they are squared and summed
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kRows * kColumns;

extern "C" void pragma_kernel(const float* x, const float* y, float* out, void* scratch) {
  float* difference = static_cast<float*>(scratch);
#pragma omp parallel for simd
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) difference[i] = x[i] - y[i];
#pragma omp parallel for
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = difference + r * kColumns;
    float sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(64)
    for (std::int64_t c = 0; c < kColumns; ++c) sum += row[c] * row[c];
    out[r] = sum;
  }
}
