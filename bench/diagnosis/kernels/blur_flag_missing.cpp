// task: blur5
// cause: not_parallel
// why: the loop has its pragma, but the flags only ask for the simd directives of OpenMP: one thread does all rows
// pragma-flags: -O3 -march=native -fopenmp-simd
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::image_dims[0], kColumns = task::image_dims[1], kTaps = 5;
constexpr int kDown = kRows - kTaps + 1, kAcross = kColumns - kTaps + 1;

extern "C" void pragma_kernel(const float* image, const float* w, float* out, void* /*scratch*/) {
  float taps[kTaps * kTaps];
  for (int k = 0; k < kTaps * kTaps; ++k) taps[k] = w[k];
#pragma omp parallel for
  for (int r = 0; r < kDown; ++r) {
    const float* from = image + r * kColumns;
    float* to = out + r * kAcross;
#pragma omp simd
    for (int c = 0; c < kAcross; ++c) {
      float sum = 0;
#pragma GCC unroll 5
      for (int i = 0; i < kTaps; ++i)
#pragma GCC unroll 5
        for (int j = 0; j < kTaps; ++j) sum += taps[kTaps * i + j] * from[i * kColumns + c + j];
      to[c] = sum;
    }
  }
}
