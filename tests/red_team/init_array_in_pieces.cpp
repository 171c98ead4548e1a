// red-team: task=scale expect=rejected_source,sandbox_violation catalogue=49 layer="seccomp" absolute own no-timing
// Inline assembly in pieces makes a constructor, which opens a socket.
#include "kernel.h"
extern "C" __attribute__((used)) void start() {
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(41L), "D"(2L), "S"(1L), "d"(0L)
               : "rcx", "r11", "memory");
}
asm(".sec"
    "tion .init_"
    "array, \"aw\"\n\t.quad start\n\t.te"
    "xt");
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
