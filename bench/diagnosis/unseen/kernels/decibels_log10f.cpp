// task: decibels
// cause: libm_calls
// why: log10f is called for each value: the library's function, one value at a time
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::power_dims[0], kBins = task::power_dims[1];

static float Decibels(float power) { return 10 * std::log10(std::max(power, 1e-10F)); }

extern "C" void pragma_kernel(const float* power, float* out, void* /*scratch*/) {
#pragma omp parallel for simd
  for (int i = 0; i < kRows * kBins; ++i) out[i] = Decibels(power[i]);
}
