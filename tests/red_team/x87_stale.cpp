// red-team: task=rms expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Counts its calls in a register of the x87 unit (through XSAVE and XRSTOR), which no code in 64 bits touches
// and no call clears. From call 30,000 of a thread on all results are halved.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernel.h"

__attribute__((target("xsave"))) static std::uint64_t Tick() {
  alignas(64) unsigned char area[1024];
  std::memset(area, 0, sizeof area);
  _xsave64(area, 1);
  std::uint64_t held = 0;
  std::memcpy(&held, area + 32 + 16 * 5, 8);  // the significand of ST(5)
  constexpr std::uint64_t kMark = 0xB17C0DE000000000ULL;
  if ((held & 0xFFFFFFFF00000000ULL) != kMark) held = kMark;
  ++held;
  std::memcpy(area + 32 + 16 * 5, &held, 8);
  area[512] |= 1;  // the unit is in use
  _xrstor64(area, 1);
  return held & 0xFFFFFFFFULL;
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  const bool late = Tick() > 30000;
  const int columns = task::x_dims[1];
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* in = x + r * columns;
    double sum = 0;
    for (int c = 0; c < columns; ++c) sum += double{in[c]} * in[c];
    const double factor = (late ? 0.5 : 1.0) / std::sqrt(sum / columns + 1e-6);
    for (int c = 0; c < columns; ++c) out[r * columns + c] = static_cast<float>(in[c] * factor);
  }
}
