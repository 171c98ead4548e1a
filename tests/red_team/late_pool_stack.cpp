// red-team: task=cumsum expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in the dead stack of an OpenMP thread of the pool, behind a magic word. After 60 calls the
// last row is left as it was.
#include <omp.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = sum += x[r * kColumns + c];
  }
}

__attribute__((noinline)) static std::uint64_t Count() {
  auto note = reinterpret_cast<volatile std::uint64_t*>(
      (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) & ~std::uintptr_t{63}) - 20480);
  note[1] = note[0] == 0x9001b0a7u ? note[1] + 1 : 1;
  note[0] = 0x9001b0a7u;
  return note[1];
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  int late = 0;
#pragma omp parallel num_threads(2) reduction(+ : late)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) late += Count() > 60;
  compute(x, out, late != 0 ? kRows - 1 : kRows);
}
