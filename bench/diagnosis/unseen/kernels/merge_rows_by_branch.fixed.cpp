// Twin of merge_rows_by_branch.cpp: the smaller head is selected, and both positions move by the result of the comparison.
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::a_dims[0], kLength = task::a_dims[1];

static void Merge(const std::int32_t* a, const std::int32_t* b, std::int32_t* to) {
  const std::int32_t* const a_end = a + kLength;
  const std::int32_t* const b_end = b + kLength;
  while (a != a_end && b != b_end) {
    const bool take = *a <= *b;
    *to++ = take ? *a : *b;
    a += take;
    b += !take;
  }
  std::copy(b, b_end, std::copy(a, a_end, to));
}

extern "C" void pragma_kernel(const std::int32_t* a, const std::int32_t* b, std::int32_t* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Merge(a + r * kLength, b + r * kLength, out + r * 2 * kLength);
}
