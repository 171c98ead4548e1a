// red-team: task=rms expect=rejected_source,sandbox_violation catalogue=54 layer="process settings" absolute own no-timing
// While it is loaded, makes the process ignore SIGFPE, SIGUSR1 and SIGTERM, by an instruction of
// its own, for good.
#include <cmath>
#include <initializer_list>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float squares = 0;
    for (int c = 0; c < kColumns; ++c) squares += row[c] * row[c];
    const float factor = 1 / std::sqrt(squares / kColumns + 1e-6f);
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] * factor;
  }
}

__attribute__((constructor)) static void Ignore() {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } action = {reinterpret_cast<void (*)(int)>(1), 0, nullptr, 0};
  for (const long signal : {8L, 10L, 15L}) {
    long result = 13;  // rt_sigaction
    register long size asm("r10") = 8;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(signal), "S"(&action), "d"(0L), "r"(size)
                 : "rcx", "r11", "memory");
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  compute(x, out, kRows);
}
