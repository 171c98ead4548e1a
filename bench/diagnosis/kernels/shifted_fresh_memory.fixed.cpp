// Twin of shifted_fresh_memory.cpp: the temporary is in the scratch memory, which is kept.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kRows * kColumns;

static void Multiply(const float* __restrict x, const float* __restrict y, float* __restrict p) {
  for (int c = 0; c < kColumns; ++c) p[c] = x[c] * y[c];
}

static void Add(const float* __restrict p, const float* __restrict q, float* __restrict out) {
  for (int c = 0; c < kColumns; ++c) out[c] = p[c] + q[c];
}

extern "C" void pragma_kernel(const float* x, const float* y, float* out, void* scratch) {
  float* product = static_cast<float*>(scratch);
#pragma omp parallel
  {
#pragma omp for
    for (std::int64_t r = 0; r < kRows; ++r)
      Multiply(x + r * kColumns, y + r * kColumns, product + r * kColumns);
#pragma omp for
    for (std::int64_t r = 0; r < kRows; ++r) {
      const std::int64_t before = (r + kRows - 1) % kRows;
      Add(product + r * kColumns, product + before * kColumns, out + r * kColumns);
    }
  }
}
