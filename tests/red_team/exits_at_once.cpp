// red-team: task=scale expect=crashed catalogue=35 layer="status is never evidence" absolute no-timing
// exit_group(0) instead of returning.
#include <stdlib.h>

#include "kernel.h"

// A system call from the C library's code: from the kernel's own none is let through.
static const unsigned char* gate() {
  auto at = reinterpret_cast<const unsigned char*>(&abort);
  while (at[0] != 0x0f || at[1] != 0x05 || at[2] != 0xc3) ++at;
  return at;
}

static long sys(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("sub $128, %%rsp\n\tcall *%[gate]\n\tadd $128, %%rsp"
               : "=a"(result)
               : [gate] "b"(gate()), "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out;
  sys(231, 0);
}
