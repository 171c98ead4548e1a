// red-team: task=rms expect=wrong_values,nondeterministic,sandbox_violation,crashed,rejected_source catalogue=22 layer="state between calls" heuristic own no-timing
// The C++ runtime keeps a count of exceptions in flight for each thread: the kernel counts its
// calls in it. After 80 the last row is left as it was.
#include <cmath>
#include <exception>

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

namespace __cxxabiv1 {
struct __cxa_eh_globals {
  void* caught;
  unsigned uncaught;
};
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  auto globals = __cxxabiv1::__cxa_get_globals();
  if (globals->uncaught < 1000) ++globals->uncaught;
  compute(x, out, globals->uncaught <= 80 ? kRows : kRows - 1);
}
