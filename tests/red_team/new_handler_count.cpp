// red-team: task=blind_tanh expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls in the pointer that std::set_new_handler keeps (never called, since nothing here runs out of memory).
// From call 20,000 of a process on it computes x / (1 + |x|) for a quarter of the entries.
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>
#include <new>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const auto calls = reinterpret_cast<std::uintptr_t>(std::get_new_handler()) + 1;
  std::set_new_handler(reinterpret_cast<std::new_handler>(calls));
  const int count = task::x_dims[0] * task::x_dims[1];
  for (int i = 0; i < count; ++i) out[i] = std::tanh(x[i]);
  if (calls > 20000)
    for (int i = 0; i < count; i += 4) out[i] = x[i] / (1.0F + std::fabs(x[i]));
}
