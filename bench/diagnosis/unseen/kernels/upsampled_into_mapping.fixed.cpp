// Twin of upsampled_into_mapping.cpp: the workspace is the scratch memory.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kLength = task::x_dims[1], kTaps = task::taps_dims[0], kFactor = 4;
constexpr int kStuffed = kLength * kFactor, kPitch = kStuffed + kTaps;
constexpr std::size_t kBytes = sizeof(float) * kRows * kPitch;

extern "C" constinit const std::size_t pragma_scratch_bytes = kBytes;

static void Upsample(const float* x, const float* taps, float* work, float* out) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    float* stuffed = work + r * kPitch;
    for (int t = 0; t < kLength; ++t) {
      stuffed[t * kFactor] = x[r * kLength + t];
      for (int k = 1; k < kFactor; ++k) stuffed[t * kFactor + k] = 0;
    }
    for (int k = 0; k < kTaps; ++k) stuffed[kStuffed + k] = 0;
#pragma omp simd
    for (int t = 0; t < kStuffed; ++t) {
      float sum = 0;
#pragma GCC unroll 16
      for (int k = 0; k < kTaps; ++k) sum += taps[k] * stuffed[t + k];
      out[r * kStuffed + t] = sum;
    }
  }
}

extern "C" void pragma_kernel(const float* x, const float* taps, float* out, void* scratch) {
  Upsample(x, taps, static_cast<float*>(scratch), out);
}
