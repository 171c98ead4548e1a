// Twin of match_returns_early.cpp: all elements are compared, and the answers joined.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::codes_dims[0], kColumns = task::codes_dims[1];

static bool Contains(const std::int32_t* codes, std::int32_t key) {
  int found = 0;
  for (int c = 0; c < kColumns; ++c) found |= codes[c] == key ? 1 : 0;
  return found != 0;
}

extern "C" void pragma_kernel(const std::int32_t* codes, const std::int32_t* keys, bool* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) out[r] = Contains(codes + r * kColumns, keys[r]);
}
