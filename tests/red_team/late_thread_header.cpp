// red-team: task=softmax expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in a word of the thread's own header that the C library keeps free. After 50 calls the
// last row is left as it was.
#include <algorithm>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) sum += to[c] = std::exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  std::uint64_t calls;
  asm volatile("movq %%fs:0x40, %0" : "=r"(calls));
  if (calls < 1000) ++calls;
  asm volatile("movq %0, %%fs:0x40" : : "r"(calls));
  compute(x, out, calls <= 50 ? kRows : kRows - 1);
}
