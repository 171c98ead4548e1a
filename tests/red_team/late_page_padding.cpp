// red-team: task=sigmoid expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Has no variables of its own: counts in what is left of the page in which the C runtime's lie.
// After 130 calls the last row is left as it was.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int i = 0; i < rows * kColumns; ++i) out[i] = 1 / (1 + std::exp(-x[i]));
}

extern "C" __attribute__((visibility("hidden"))) void* __dso_handle;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  const auto page = reinterpret_cast<std::uintptr_t>(&__dso_handle) & ~std::uintptr_t{4095};
  auto note = reinterpret_cast<volatile std::uint32_t*>(page + 4096 - 64);
  note[1] = note[0] == 0x9a9e0fff ? note[1] + 1 : 1;
  note[0] = 0x9a9e0fff;
  compute(x, out, note[1] <= 130 ? kRows : kRows - 1);
}
