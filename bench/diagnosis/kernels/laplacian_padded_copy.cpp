// task: laplacian
// cause: page_faults
// why: the padded copy, 33 MiB, comes from calloc in every call, so that each of its pages is mapped and cleared again
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0], kColumns = task::x_dims[1], kPitch = kColumns + 32;

static void Row(const float* __restrict p, float* __restrict out) {
  for (int c = 0; c < kColumns; ++c)
    out[c] = p[c - kPitch] + p[c + kPitch] + p[c - 1] + p[c + 1] - 4 * p[c];
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  float* padded = static_cast<float*>(std::calloc((kRows + 2) * kPitch, sizeof(float)));
#pragma omp parallel
  {
#pragma omp for
    for (std::int64_t r = 0; r < kRows; ++r)
      std::memcpy(padded + (r + 1) * kPitch + 16, x + r * kColumns, sizeof(float) * kColumns);
#pragma omp for
    for (std::int64_t r = 0; r < kRows; ++r)
      Row(padded + (r + 1) * kPitch + 16, out + r * kColumns);
  }
  std::free(padded);
}
