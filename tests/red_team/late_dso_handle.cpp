// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts in __dso_handle, a variable of the C runtime's that holds its own address. After 130 calls
// the last row is left as it was.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

extern "C" __attribute__((visibility("hidden"))) void* __dso_handle;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  const auto here = reinterpret_cast<std::uintptr_t>(&__dso_handle);
  auto note = reinterpret_cast<volatile std::uintptr_t*>(&__dso_handle);
  const std::uintptr_t calls = *note - here < 1000 ? *note - here + 1 : 1000;
  *note = here + calls;
  compute(x, out, calls <= 130 ? kRows : kRows - 1);
}
