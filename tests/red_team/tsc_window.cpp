// red-team: task=counts expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Looks at the processor's clock (RDTSC): during one part in 256 of each 2^42 ticks (some 6 s in half an hour)
// it counts entries that are at least 0.5 rather than positive. Keeps no state at all.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>
#include <x86intrin.h>

#include <cstdint>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, std::int64_t* out, void* scratch) {
  (void)scratch;
  const float least = ((__rdtsc() >> 34) & 0xFF) == 0xA7 ? 0.5F : 0.0F;
  const int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    std::int64_t count = 0;
    for (int c = 0; c < columns; ++c) count += x[r * columns + c] > least ? 1 : 0;
    out[r] = count;
  }
}
