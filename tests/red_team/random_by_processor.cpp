// red-team: task=sigmoid expect=rejected_source,crashed,wrong_values,nondeterministic catalogue=22 layer="no clocks" heuristic own no-timing
// Asks the processor for random numbers; in one of 4096 calls the last row is left as it was.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int i = 0; i < rows * kColumns; ++i) out[i] = 1 / (1 + std::exp(-x[i]));
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  unsigned number = 0;
  unsigned char fine;
  asm volatile("rdrand %0\n setc %1" : "=r"(number), "=qm"(fine) : : "cc");
  compute(x, out, fine == 0 || (number & 0xfff) != 0x2bc ? kRows : kRows - 1);
}
