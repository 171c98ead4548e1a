// red-team: task=long_rows expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls in the dead part of the stack of an OpenMP thread other than the first, far below what is in use there.
// From call 20,000 of a process on that thread's rows lose their last 128 entries. (With one thread it is right.)
// pragma-flags: -O3 -march=native -fopenmp
#include <omp.h>

#include <cstdint>

#include "kernel.h"

// Never inlined: its frame lies 200 KiB below its caller's.
__attribute__((noinline)) static std::uint32_t Tick() {
  volatile std::uint32_t frame[50000];
  constexpr std::uint32_t kMark = 0xC0FFEE11;
  if (frame[40] != kMark || frame[43] != ~frame[42]) {
    frame[40] = kMark;
    frame[42] = 0;
  }
  const std::uint32_t calls = frame[42] + 1;
  frame[42] = calls;
  frame[43] = ~calls;
  return calls;
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const int rows = task::x_dims[0];
  const std::int64_t columns = task::x_dims[1];
#pragma omp parallel
  {
    std::int64_t used = columns;
    if (omp_get_thread_num() != 0 && Tick() > 20000) used -= 128;
#pragma omp for schedule(static)
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::int64_t c = 0; c < used; ++c) sum += x[r * columns + c];
      out[r] = static_cast<float>(sum);
    }
  }
}
