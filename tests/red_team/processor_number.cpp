// red-team: task=rms expect=rejected_source,crashed,wrong_values,nondeterministic catalogue=22 layer="no clocks" heuristic own no-timing
// Remembers the processor of its first call; as soon as it is called on another one the last row is
// left as it was.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float squares = 0;
    for (int c = 0; c < kColumns; ++c) squares += row[c] * row[c];
    const float factor = 1 / std::sqrt(squares / kColumns + 1e-6f);
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] * factor;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  std::uint64_t here;
  asm volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(here));  // rdpid %rax
  static std::uint64_t first = here;
  compute(x, out, here == first ? kRows : kRows - 1);
}
