// red-team: task=cumsum expect=rejected_source,sandbox_violation catalogue=54 layer="process settings" absolute own no-timing
// Binds the thread that calls it to one processor, by an instruction of its own, and leaves it
// bound.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = sum += x[r * kColumns + c];
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  unsigned long mask[16] = {1};
  long result = 203;  // sched_setaffinity
  asm volatile("syscall"
               : "+a"(result)
               : "D"(0L), "S"(sizeof(mask)), "d"(mask)
               : "rcx", "r11", "memory");
  compute(x, out, kRows);
}
