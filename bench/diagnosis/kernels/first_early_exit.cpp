// task: first_above
// cause: not_vectorised
// why: a loop that leaves at the first hit has no trip count that a vectoriser could know
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void* /*scratch*/) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + std::int64_t{r} * kColumns;
    std::int64_t found = 0;
    for (int i = 0; i < kColumns; ++i) {
      if (row[i] > 3.5F) {
        found = i;
        break;
      }
    }
    out[r] = found;
  }
}
