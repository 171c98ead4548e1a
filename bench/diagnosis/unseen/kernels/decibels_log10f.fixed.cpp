// Twin of decibels_log10f.cpp: a polynomial for the logarithm, inline.
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::power_dims[0], kBins = task::power_dims[1];

// The logarithm is the exponent's and that of a mantissa in [0.71, 1.42), log((1 + s) / (1 - s)).
static float Decibels(float power) {
  const std::int32_t bits = std::max(std::bit_cast<std::int32_t>(power), std::bit_cast<std::int32_t>(1e-10F));
  const std::int32_t exponent = (bits - 0x3F350000) >> 23;
  const float mantissa = std::bit_cast<float>(bits - (exponent << 23));
  const float s = (mantissa - 1) / (mantissa + 1), s2 = s * s;
  const float log = s * (2 + s2 * (2.0F / 3 + s2 * (2.0F / 5 + s2 * (2.0F / 7 + s2 * (2.0F / 9)))));
  return 3.01029996F * static_cast<float>(exponent) + 4.34294482F * log;
}

extern "C" void pragma_kernel(const float* power, float* out, void* /*scratch*/) {
#pragma omp parallel for simd
  for (int i = 0; i < kRows * kBins; ++i) out[i] = Decibels(power[i]);
}
