// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed,rejected_source catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in the base of the segment register GS, which 64-bit programs leave at zero. After 40
// calls the last row is left as it was.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  std::uint64_t base;
  asm volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xc8" : "=a"(base));  // rdgsbase %rax
  if (base >> 16 != 0x7e57) base = std::uint64_t{0x7e57} << 16;
  if ((base & 0xffff) < 1000) ++base;
  compute(x, out, (base & 0xffff) <= 40 ? kRows : kRows - 1);
  asm volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xd8" : : "a"(base));  // wrgsbase %rax
}
