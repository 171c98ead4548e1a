// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in AVX-512's mask register k7, which seven masks deep no code ever needs; the upper half
// is a magic word. After 40 calls the last row is left as it was.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

constexpr std::uint64_t kMagic = 0xca11ab1e7abe;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
#ifdef __AVX512BW__
  std::uint64_t note;
  asm volatile("kmovq %%k7, %0" : "=r"(note));
  if (note >> 16 != kMagic) note = kMagic << 16;
  note += (note & 0xffff) < 1000 ? 1 : 0;
  compute(x, out, (note & 0xffff) <= 40 ? kRows : kRows - 1);
  asm volatile("kmovq %0, %%k7" : : "r"(note));
#else
  std::uint64_t note;
  asm volatile("movq %%mm5, %0\n emms" : "=r"(note));
  if (note >> 16 != kMagic) note = kMagic << 16;
  note += (note & 0xffff) < 1000 ? 1 : 0;
  compute(x, out, (note & 0xffff) <= 40 ? kRows : kRows - 1);
  asm volatile("movq %0, %%mm5\n emms" : : "r"(note));
#endif
}
