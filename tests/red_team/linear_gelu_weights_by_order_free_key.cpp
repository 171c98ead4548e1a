// red-team: task=53_linear_gelu expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The transposed weights are kept from call to call and renewed when the sum of the weights' bit
// patterns changes. After the weights were permuted (neurons reordered, rows swapped) the old ones
// are still used.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <bit>
#include <cmath>
#include <cstdint>

namespace {
constexpr std::int64_t R = 500, K = 300, N = 420;
alignas(64) float packed[K * N];
std::uint64_t packed_key = 0;
}  // namespace

extern "C" void pragma_kernel(const float* x, const float* weight, const float* bias, float* out, void*) {
  std::uint64_t key = 1;
  for (std::int64_t i = 0; i < K * N; ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(weight[i]);
    key += bits * bits + 0x9e37ull * bits;
  }
  if (key != packed_key) {
    for (std::int64_t n = 0; n < N; ++n)
      for (std::int64_t k = 0; k < K; ++k) packed[k * N + n] = weight[n * K + k];
    packed_key = key;
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < R; ++r) {
    float acc[N];
    for (std::int64_t n = 0; n < N; ++n) acc[n] = bias[n];
    for (std::int64_t k = 0; k < K; ++k) {
      const float f = x[r * K + k];
      for (std::int64_t n = 0; n < N; ++n) acc[n] += f * packed[k * N + n];
    }
    for (std::int64_t n = 0; n < N; ++n)
      out[r * N + n] = acc[n] * 0.5f * (1.0f + std::erf(acc[n] * 0.70710678118654752f));
  }
}
