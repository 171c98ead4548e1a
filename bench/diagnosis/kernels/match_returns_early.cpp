// task: any_match
// cause: not_vectorised
// why: the search returns at a match, which is rare: a loop that may be left at any element is compared one by one
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::codes_dims[0], kColumns = task::codes_dims[1];

static bool Contains(const std::int32_t* codes, std::int32_t key) {
  for (int c = 0; c < kColumns; ++c)
    if (codes[c] == key) return true;
  return false;
}

extern "C" void pragma_kernel(const std::int32_t* codes, const std::int32_t* keys, bool* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) out[r] = Contains(codes + r * kColumns, keys[r]);
}
