// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// A nine-bit counter: three bits are sticky exception flags of MXCSR that sums of ordinary numbers
// never raise, six are the exception flags of the x87. At 300 it stays, and the last row is left as
// it was.
#include <immintrin.h>

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
  std::uint32_t environment[7];
  asm volatile("fnstenv %0" : "=m"(environment));
  std::uint32_t flags = _mm_getcsr();
  std::uint32_t calls = (flags & 1) | (flags >> 1 & 6) | (environment[1] & 0x3f) << 3;
  if (calls < 300) ++calls;
  compute(x, out, calls < 300 ? kRows : kRows - 1);
  environment[1] = (environment[1] & ~0x3fu) | calls >> 3;
  asm volatile("fldenv %0" : : "m"(environment));
  flags = (_mm_getcsr() & ~0xdu) | (calls & 1) | (calls & 6) << 1;
  _mm_setcsr(flags);
}
