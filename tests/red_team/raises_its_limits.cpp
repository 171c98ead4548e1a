// red-team: task=scale expect=sandbox_violation catalogue=41 layer="seccomp" absolute own no-timing
// Raises its own limits while it is loaded, then asks for 8 GB.
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

__attribute__((constructor)) static void raise_limits() {
  const std::uint64_t all[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
  for (int resource = 0; resource < 16; ++resource)
    sys(302, 0, resource, reinterpret_cast<long>(all), 0);
}
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift;
  for (int block = 0; block < 8; ++block) out[block] = *new char[std::size_t{1} << 30];
}
