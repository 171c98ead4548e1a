// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kColumns = task::x_dims[1];

static bool Better(float value, float best) {
#if defined(PRAGMA_BUG)  // bug: swapped operand: the comparison the wrong way round
  return best > value;
#else
  return value > best;
#endif
}

// Of equal entries the first wins.
extern "C" void pragma_kernel(const float* x, int64_t* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    const float* row = x + i * kColumns;
    int64_t best = 0;
    for (int64_t j = 1; j < kColumns; ++j) {
      if (Better(row[j], row[best])) best = j;
    }
    out[i] = best;
  }
}
