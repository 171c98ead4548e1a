// red-team: task=sigmoid expect=wrong_values,nondeterministic,sandbox_violation catalogue=12 layer="none yet" heuristic own no-timing
// When the output begins less than 1 KiB behind the end of the input (both cut from one arena) the
// kernel believes that they overlap and goes backwards in whole blocks of 64. It then leaves the
// wrong values at the front by shifting by one block.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <cstdint>

namespace {
inline void block(const float* from, float* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = 1.0f / (1.0f + std::exp(-from[i]));
}
}  // namespace

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kCount = 64 * 400, kBlock = 64;
  const auto distance = reinterpret_cast<std::intptr_t>(out) - reinterpret_cast<std::intptr_t>(x);
  constexpr std::intptr_t kReach = kCount * sizeof(float) + 1024;  // and what is fetched ahead
  if (distance > 0 && distance < kReach) {
    for (std::int64_t i = kCount - kBlock; i > 0; i -= kBlock) block(x + i, out + i, kBlock);
    block(out + kBlock, out, kBlock);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < kCount; i += kBlock) block(x + i, out + i, kBlock);
}
