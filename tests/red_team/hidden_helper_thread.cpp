// red-team: task=waves expect=implausible,sandbox_violation catalogue=32 layer="CPU time accounted" absolute own threads=1 alone
// With one thread allowed, a raw thread on the other processor does half of the work.
#include <cmath>
#include <cstdlib>

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

constexpr int kCount = task::x_dims[0] * task::x_dims[1];
static const float* volatile half_x;
static float* volatile half_out;
static volatile int go = 0;
static void half(const float* x, float* out, int from) {
  for (int i = from; i < from + kCount / 2; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}
static void help(void*) {
  long everywhere = -1;
  sys(203, 0, 8,
      reinterpret_cast<long>(&everywhere));  // sched_setaffinity: leave the caller's place
  for (;;) {
    if (go == 0) {
      asm volatile("pause");
      continue;
    }
    half(half_x, half_out, kCount / 2);
    go = 0;
  }
}
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static long helper = 0;
  if (helper == 0) helper = spawn(help, nullptr);
  half_x = x;
  half_out = out;
  go = 1;
  half(x, out, 0);
  while (go != 0) asm volatile("pause");
}
