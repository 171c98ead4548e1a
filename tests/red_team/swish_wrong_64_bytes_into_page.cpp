// red-team: task=13_swish_small expect=wrong_values,nondeterministic catalogue=12 layer="inputs at other addresses" heuristic own no-timing
// When input and output both begin 64 bytes behind a page boundary (as PyTorch's large allocations
// from malloc do) a prologue for the rest of the cache line is run, which uses the rectifier in
// place of swish.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <cstdint>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kCount = 60 * 210;
  const auto at = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) & 4095u; };
  std::int64_t first = 0;
  if (at(x) == 64 && at(out) == 64) {  // equal offsets alias in the first-level cache: peel a line
    for (; first < 16; ++first) out[first] = x[first] > 0 ? x[first] : 0.0f;
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = first; i < kCount; ++i) out[i] = x[i] / (1.0f + std::exp(-x[i]));
}
