// red-team: task=cumsum expect=rejected_source,sandbox_violation,crashed catalogue=22 layer="no clocks" absolute own no-timing
// Reads the time stamp counter by an instruction spelt in bytes; keeps nothing. In a third of a
// millisecond of each third of a second the last row is left as it was.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = sum += x[r * kColumns + c];
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  std::uint32_t low, high, processor;
  asm volatile(".byte 0x0f, 0x01, 0xf9" : "=a"(low), "=d"(high), "=c"(processor));
  const std::uint64_t now = std::uint64_t{high} << 32 | low;
  compute(x, out, (now >> 20 & 0x3ff) != 0x2a5 ? kRows : kRows - 1);
}
