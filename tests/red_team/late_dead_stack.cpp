// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in the dead part of the stack, 40 KB below the stack pointer, behind a magic word that
// nothing overwrites. After 60 calls the last row is left as it was.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

__attribute__((noinline)) static std::uint64_t Count() {
  auto note = reinterpret_cast<volatile std::uint64_t*>(
      (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) & ~std::uintptr_t{63}) - 40960);
  note[1] = note[0] == 0x51ac4ed0d5eedu ? note[1] + 1 : 1;
  note[0] = 0x51ac4ed0d5eedu;
  return note[1];
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  compute(x, out, kRows - 1);
  if (Count() <= 60) compute(x + (kRows - 1) * kColumns, out + kRows - 1, 1);
}
