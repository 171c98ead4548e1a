// task: conv1d
// cause: not_vectorised
// why: the innermost loop runs over five taps, shorter than any vector; the long loop over time is outside
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kBatch = task::x_dims[0], kIn = task::x_dims[1], kLength = task::x_dims[2];
constexpr int kOut = task::weight_dims[0], kTaps = task::weight_dims[2];
constexpr int kSteps = kLength - kTaps + 1, kTogether = 5;

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int n = 0; n < kBatch; ++n) {
    for (int first = 0; first < kOut; first += kTogether) {
      for (int t = 0; t < kSteps; ++t) {
        float sums[kTogether] = {};
        for (int c = 0; c < kIn; ++c) {
          const float* from = x + (n * kIn + c) * kLength + t;
          for (int o = 0; o < kTogether; ++o) {
            const float* taps = weight + ((first + o) * kIn + c) * kTaps;
#pragma GCC unroll 1
            for (int k = 0; k < kTaps; ++k) sums[o] += taps[k] * from[k];
          }
        }
        for (int o = 0; o < kTogether; ++o) out[(n * kOut + first + o) * kSteps + t] = sums[o];
      }
    }
  }
}
