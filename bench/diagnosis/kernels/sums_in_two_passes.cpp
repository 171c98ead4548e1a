// task: both_sums
// cause: dram_bandwidth
// why: 48 MiB are read from memory twice, once for the rows' sums and once for the columns'
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kBlock = 256;
constexpr int kBlocks = kRows / kBlock;
static_assert(kRows % kBlock == 0);

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kBlocks * kColumns;

static float Squares(const float* x) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int c = 0; c < kColumns; ++c) sum += x[c] * x[c];
  return sum;
}

static void Add(const float* __restrict x, float* __restrict sums) {
  for (int c = 0; c < kColumns; ++c) sums[c] += x[c] * x[c];
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  float* partial = static_cast<float*>(scratch);
#pragma omp parallel
  {
#pragma omp for
    for (int r = 0; r < kRows; ++r) out[r] = Squares(x + std::int64_t{r} * kColumns);
#pragma omp for
    for (int block = 0; block < kBlocks; ++block) {
      float* sums = partial + block * kColumns;
      for (int c = 0; c < kColumns; ++c) sums[c] = 0;
      for (int r = block * kBlock; r < (block + 1) * kBlock; ++r)
        Add(x + std::int64_t{r} * kColumns, sums);
    }
#pragma omp for
    for (int c = 0; c < kColumns; ++c) {
      float sum = 0;
      for (int block = 0; block < kBlocks; ++block) sum += partial[block * kColumns + c];
      out[kRows + c] = sum;
    }
  }
}
