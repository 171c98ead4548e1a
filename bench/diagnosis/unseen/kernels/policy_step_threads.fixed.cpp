// Twin of policy_step_threads.cpp: one thread executes all layers.
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>

#include "kernel.h"

constexpr int kIn = task::first_dims[0], kHidden = task::second_dims[0], kWide = task::last_dims[0],
              kOut = task::last_dims[1];

template <int kFrom, int kTo, bool kRelu>
static void Layer(const float* x, const float* weight, float* out) {
  constexpr int kBlock = 32;
  static_assert(kTo % kBlock == 0);
  for (int o = 0; o < kTo; o += kBlock) {
    float sum[kBlock] = {0};
    for (int i = 0; i < kFrom; ++i)
#pragma omp simd
      for (int k = 0; k < kBlock; ++k) sum[k] += x[i] * weight[i * kTo + o + k];
#pragma omp simd
    for (int k = 0; k < kBlock; ++k) out[o + k] = kRelu ? std::max(sum[k], 0.0F) : sum[k];
  }
}

extern "C" void pragma_kernel(const float* x, const float* first, const float* second, const float* last,
                              float* out, void* /*scratch*/) {
  alignas(64) float hidden[kHidden], wide[kWide];
  Layer<kIn, kHidden, true>(x, first, hidden);
  Layer<kHidden, kWide, true>(hidden, second, wide);
  Layer<kWide, kOut, false>(wide, last, out);
}
