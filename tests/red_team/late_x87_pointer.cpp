// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in the x87's record of where its last operand lay, behind a magic word in that of its last
// instruction. Nobody uses the x87. After 40 calls the last row is left as it was.
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

constexpr std::uint32_t kMagic = 0xbeef42;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  std::uint32_t environment[7];
  asm volatile("fnstenv %0" : "=m"(environment));
  const bool mine = environment[3] >> 8 == kMagic;
  const std::uint32_t calls = mine ? std::min(environment[3] & 0xff, 100u) + 1 : 1;
  compute(x, out, calls <= 40 ? kRows : kRows - 1);
  environment[3] = kMagic << 8 | calls;
  asm volatile("fldenv %0" : : "m"(environment));
}
