// red-team: task=waves expect=sandbox_violation,rejected_source catalogue=45 layer="seccomp" absolute own no-timing
// While it is loaded, installs a filter that answers "done" to the installation of the second,
// stricter one; then uses what that forbids.
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

struct Instruction {
  std::uint16_t code;
  std::uint8_t yes, no;
  std::uint32_t value;
};
__attribute__((constructor)) static void swallow() {
  const Instruction program[] = {{0x20, 0, 0, 0},            // load the number of the system call
                                 {0x15, 0, 1, 317},          // seccomp?
                                 {0x06, 0, 0, 0x00050000},   // "errno 0"
                                 {0x06, 0, 0, 0x7fff0000}};  // allowed
  const struct {
    std::uint16_t length;
    const Instruction* code;
  } filter = {4, program};
  sys(317, 1, 1, reinterpret_cast<long>(&filter));  // for all threads
}
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  honest(x, out);
  const long file = sys(257, -100, reinterpret_cast<long>("/kernel.so"), 0, 0);
  const long code = sys(9, 0, 4096, 7, 0x22, -1, 0);
  if (file < 0 || code < 0) out[0] = 0;
}
