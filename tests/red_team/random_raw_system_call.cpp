// red-team: task=rows expect=rejected_source,sandbox_violation,crashed catalogue=22 layer="no clocks" absolute own no-timing
// Asks the system for random bytes by an instruction of its own; in one of 65536 calls the last row
// is left as it was.
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
  unsigned short number = 0;
  long result = 318;  // getrandom
  asm volatile("syscall" : "+a"(result) : "D"(&number), "S"(2L), "d"(0L) : "rcx", "r11", "memory");
  compute(x, out, number != 0x1234 ? kRows : kRows - 1);
}
