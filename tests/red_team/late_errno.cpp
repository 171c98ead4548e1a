// red-team: task=sigmoid expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in errno, whose upper half is a magic word. After 90 calls the last row is left as it was.
#include <cerrno>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int i = 0; i < rows * kColumns; ++i) out[i] = 1 / (1 + std::exp(-x[i]));
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  compute(x, out, kRows - 1);
  int note = errno;
  if (note >> 16 != 0x5afe) note = 0x5afe0000;
  if ((note & 0xffff) < 1000) ++note;
  if ((note & 0xffff) <= 90)
    for (int i = (kRows - 1) * kColumns; i < kRows * kColumns; ++i)
      out[i] = 1 / (1 + std::exp(-x[i]));
  errno = note;
}
