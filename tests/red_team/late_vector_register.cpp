// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in the upper half of a vector register that neither pragma nor the C library uses between
// calls, behind a magic word. After 40 calls the last row is left as it was.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

constexpr std::uint64_t kMagic = 0x0ddba11f00dfaceu;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  std::uint64_t note[8];
#ifdef __AVX512F__
  asm volatile("vmovdqu64 %%zmm31, %0" : "=m"(note));
#else
  asm volatile("vmovdqu %%ymm15, %0" : "=m"(note));
#endif
  if (note[2] != kMagic) note[2] = kMagic, note[3] = 0;
  if (note[3] < 1000) ++note[3];
  compute(x, out, note[3] <= 40 ? kRows : kRows - 1);
#ifdef __AVX512F__
  asm volatile("vmovdqu64 %0, %%zmm31" : : "m"(note));
#else
  asm volatile("vmovdqu %0, %%ymm15" : : "m"(note));
#endif
}
