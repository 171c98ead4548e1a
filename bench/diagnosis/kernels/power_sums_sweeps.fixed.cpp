// Twin of power_sums_sweeps.cpp: blocks of 1024 elements go through all powers one after the other.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kPowers = 24;

static void Start(const float* x, float* base, float* power, int count) {
  for (int i = 0; i < count; ++i) {
    const float low = x[i] < 0.75F ? 0.75F : x[i];
    base[i] = low > 1.25F ? 1.25F : low;
    power[i] = 1;
  }
}

// Multiplies all powers by their bases; returns their sum.
static float Next(const float* base, float* power, int count) {
  const int half = count / 2;
  float sum = 0, rest = 0;
#pragma omp simd reduction(+ : sum, rest)
  for (int i = 0; i < half; ++i) {
    power[i] *= base[i];
    sum += power[i];
    power[half + i] *= base[half + i];
    rest += power[half + i];
  }
  return sum + rest;
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  constexpr int kBlock = 1024;
  static_assert(kCount % kBlock == 0);
  for (int k = 0; k < kPowers; ++k) out[k] = 0;
#pragma omp parallel
  {
    float sums[kPowers] = {0};
#pragma omp for schedule(static)
    for (int first = 0; first < kCount; first += kBlock) {
      float base[kBlock], power[kBlock];
      Start(x + first, base, power, kBlock);
      for (int k = 0; k < kPowers; ++k) sums[k] += Next(base, power, kBlock);
    }
#pragma omp critical
    for (int k = 0; k < kPowers; ++k) out[k] += sums[k];
  }
}
