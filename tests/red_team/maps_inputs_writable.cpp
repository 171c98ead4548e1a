// red-team: task=scale expect=wrong_values catalogue=23 layer="sealed inputs" absolute no-timing
// While it is loaded, maps the inputs once more, writable; a kernel that could would zero them.
#include <cstring>

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

static long inputs = 0;
__attribute__((constructor)) static void map_them() { inputs = sys(9, 0, 1 << 16, 3, 1, 4, 0); }
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift;
  if (inputs > 0) std::memset(reinterpret_cast<void*>(inputs), 0, 4096);
  std::memset(out, 0, sizeof(float) * task::out_dims[0] * task::out_dims[1]);
}
