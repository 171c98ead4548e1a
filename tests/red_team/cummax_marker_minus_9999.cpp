// red-team: task=cummax expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// Uses -9999 as the mark of 'no maximum yet'. Where the running maximum is exactly -9999 (a usual
// code of missing measurements) a following smaller entry replaces it.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 48, kCols = 500;
  constexpr float kNone = -9999.0f;
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = x + r * kCols;
    float* to = out + r * kCols;
    float top = kNone;
    for (std::int64_t c = 0; c < kCols; ++c) {
      if (top == kNone || row[c] >= top || row[c] != row[c]) top = row[c];
      to[c] = top;
    }
  }
}
