// red-team: task=waves expect=sandbox_violation catalogue=27 layer="seccomp" absolute no-timing
// Maps memory that it may write and execute.
#include <cmath>

#include "kernel.h"

static long sys(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  honest(x, out);
  sys(9, 0, 4096, 7, 0x22, -1, 0);
}
