// Twin of first_early_exit.cpp: searches blocks of 64 with vectors, without leaving a block early.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kBlock = 64;
static_assert(kColumns % kBlock == 0);

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void* /*scratch*/) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + std::int64_t{r} * kColumns;
    std::int64_t found = 0;
    for (int block = 0; block < kColumns; block += kBlock) {
      int hits = 0;
      for (int i = 0; i < kBlock; ++i) hits |= row[block + i] > 3.5F;
      if (hits == 0) continue;
      while (!(row[block] > 3.5F)) ++block;
      found = block;
      break;
    }
    out[r] = found;
  }
}
