// task: power_sums
// cause: l2_l3_bound
// why: each of 24 powers sweeps over all bases and powers, 4 MiB that only the last cache holds, though a block of them would stay in the first
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kPowers = 24;

extern "C" constinit const std::size_t pragma_scratch_bytes = 2 * sizeof(float) * kCount;

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

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  float* base = static_cast<float*>(scratch);
  float* power = base + kCount;
  constexpr int kPart = kCount / 2;
  for (int k = 0; k < kPowers; ++k) out[k] = 0;
#pragma omp parallel for schedule(static)
  for (int first = 0; first < kCount; first += kPart) {
    float sums[kPowers];
    Start(x + first, base + first, power + first, kPart);
    for (int k = 0; k < kPowers; ++k) sums[k] = Next(base + first, power + first, kPart);
#pragma omp critical
    for (int k = 0; k < kPowers; ++k) out[k] += sums[k];
  }
}
