// red-team: task=waves expect=wrong_values,implausible,nondeterministic,sandbox_violation catalogue=25 layer="frozen before the outputs are read" absolute
// Returns at once; a thread of its own writes the output a little later.
#include <cmath>
#include <cstdlib>

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

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
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

struct Job {
  const float* x;
  float* out;
};
static void work(void* argument) {
  const Job job = *static_cast<Job*>(argument);
  const long pause[2] = {0, 300000};
  sys(35, reinterpret_cast<long>(pause));
  honest(job.x, job.out);
}
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static Job jobs[64];
  static int next = 0;
  Job& job = jobs[next++ % 64];
  job = {x, out};
  spawn(work, &job);
}
