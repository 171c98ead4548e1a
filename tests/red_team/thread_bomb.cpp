// red-team: task=scale expect=timeout,crashed,implausible,sandbox_violation catalogue=41 layer="limits" absolute no-timing run-limit=2s
// Starts threads until no more are given, all of them busy, and goes on trying.
#include <cstdlib>

#include "kernel.h"

// A thread without the C library: it must not allocate or use errno.
static long spawn(void (*run)(void*), void* argument) {
  constexpr long kBytes = 1 << 18;
  char* stack = static_cast<char*>(std::malloc(kBytes));
  auto top = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(stack) + kBytes) &
                                      ~std::uintptr_t{15});
  *--top = argument;
  *--top = reinterpret_cast<void*>(run);
  constexpr long kFlags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;  // VM ... THREAD
  register long r10 asm("r10") = 0;
  register long r8 asm("r8") = 0;
  long result;
  asm volatile(
      "syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\tpop %%rax\n\tpop %%rdi\n\tcall *%%rax\n\t"
      "mov $60, %%eax\n\txor %%edi, %%edi\n\tsyscall\n1:"
      : "=a"(result)
      : "a"(56L), "D"(kFlags), "S"(top), "d"(0L), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  return result;
}

static void burn(void*) {
  for (;;) asm volatile("pause");
}
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out;
  for (;;) spawn(burn, nullptr);
}
