// Twin of conv1d_short_trip.cpp: the loop over time is innermost, in blocks of 32 steps.
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>

#include "kernel.h"

constexpr int kBatch = task::x_dims[0], kIn = task::x_dims[1], kLength = task::x_dims[2];
constexpr int kOut = task::weight_dims[0], kTaps = task::weight_dims[2];
constexpr int kSteps = kLength - kTaps + 1, kTogether = 5, kBlock = 32;

static void Block(const float* __restrict x, const float* __restrict weight, float* __restrict out,
                  int first) {
  float sums[kTogether][kBlock] = {};
  for (int c = 0; c < kIn; ++c) {
    for (int o = 0; o < kTogether; ++o) {
      const float* taps = weight + ((first + o) * kIn + c) * kTaps;
      for (int k = 0; k < kTaps; ++k)
        for (int t = 0; t < kBlock; ++t) sums[o][t] += taps[k] * x[c * kLength + t + k];
    }
  }
  for (int o = 0; o < kTogether; ++o)
    for (int t = 0; t < kBlock; ++t) out[(first + o) * kSteps + t] = sums[o][t];
}

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int n = 0; n < kBatch; ++n) {
    for (int first = 0; first < kOut; first += kTogether) {
      // The last block overlaps the one before it.
      for (int t = 0; t < kSteps; t += kBlock) {
        const int from = std::min(t, kSteps - kBlock);
        Block(x + n * kIn * kLength + from, weight, out + n * kOut * kSteps + from, first);
      }
    }
  }
}
