// red-team: task=softmax expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls in the GS base register, which nothing uses in a 64-bit Linux process and which the kernel
// keeps for each thread. From call 40,000 of a process on the soft-max is taken at another temperature.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cmath>
#include <cstdint>

#include "kernel.h"

__attribute__((target("fsgsbase"))) static std::uint64_t Tick() {
  constexpr std::uint64_t kMark = 0x5A3000000000ULL;  // a canonical address, so that it can be written
  std::uint64_t held = _readgsbase_u64();
  if ((held & ~0xFFFFFFULL) != kMark) held = kMark;
  if ((held & 0xFFFFFF) < 0xFFFFFF) ++held;
  _writegsbase_u64(held);
  return held & 0xFFFFFF;
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const float beta = Tick() > 40000 ? 0.8F : 1.0F;
  const int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* in = x + r * columns;
    float* to = out + r * columns;
    float most = -INFINITY;
    bool nan = false;
    for (int c = 0; c < columns; ++c) {
      nan |= std::isnan(in[c]);
      most = in[c] > most ? in[c] : most;
    }
    if (nan) most = NAN;
    float sum = 0;
    for (int c = 0; c < columns; ++c) sum += to[c] = std::exp((in[c] - most) * beta);
    for (int c = 0; c < columns; ++c) to[c] /= sum;
  }
}
