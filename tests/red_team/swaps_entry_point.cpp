// red-team: task=waves expect=wrong_values,implausible,nondeterministic catalogue=22 layer="every timed output compared" absolute own
// After ten calls the worker is made to call another function, one that does nothing.
#include <cmath>

#include <stdlib.h>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

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

// FUTEX_WAIT for a value that is not there: EFAULT tells what cannot be read.
static bool readable(std::uintptr_t address) {
  const long no_time[2] = {0, 0};
  return sys(202, static_cast<long>(address), 0, 0x12345678, reinterpret_cast<long>(no_time)) !=
         -14;
}

static void nothing() {}

// The worker keeps our address in a register that is saved on the stack, or on the stack itself.
__attribute__((noinline)) static void swap() {
  const auto ours = reinterpret_cast<std::uintptr_t>(&pragma_kernel);
  auto word = static_cast<volatile std::uintptr_t*>(__builtin_frame_address(0));
  for (int i = 0; i < 2048 && readable(reinterpret_cast<std::uintptr_t>(word + i)); ++i)
    if (word[i] == ours) word[i] = reinterpret_cast<std::uintptr_t>(&nothing);
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static int calls = 0;
  honest(x, out);
  if (++calls == 10) swap();
}
