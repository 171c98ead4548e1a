// Twin of binomial_vector_temporary.cpp: the image between the passes lies in scratch memory
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0] - 2, kColumns = task::x_dims[1];

static void Down(const float* __restrict x, float* __restrict rows) {
  for (int c = 0; c < kColumns; ++c)
    rows[c] = 0.25F * x[c] + 0.5F * x[c + kColumns] + 0.25F * x[c + 2 * kColumns];
}

static void Along(const float* __restrict rows, float* __restrict out) {
  for (int c = 0; c < kColumns - 2; ++c)
    out[c] = 0.25F * rows[c] + 0.5F * rows[c + 1] + 0.25F * rows[c + 2];
}

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kRows * kColumns;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  float* rows = static_cast<float*>(scratch);
#pragma omp parallel
  {
#pragma omp for
    for (std::int64_t r = 0; r < kRows; ++r) Down(x + r * kColumns, rows + r * kColumns);
#pragma omp for
    for (std::int64_t r = 0; r < kRows; ++r) Along(rows + r * kColumns, out + r * (kColumns - 2));
  }
}
