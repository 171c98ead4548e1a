// red-team: task=scale expect=sandbox_violation,crashed catalogue=45 layer="seccomp" absolute no-timing
// A 32-bit system call: other numbers (when it is called)
#include "kernel.h"

static void honest(const float* x, const float* gain, const float* shift, float* out) {
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; ++c)
      out[r * task::x_dims[1] + c] = gain[c] * x[r * task::x_dims[1] + c] + shift[c];
}

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  honest(x, gain, shift, out);
  long result;
  asm volatile("int $0x80" : "=a"(result) : "a"(359L), "b"(2L), "c"(1L), "d"(0L) : "memory");
}
