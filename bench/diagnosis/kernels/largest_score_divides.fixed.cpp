// Twin of largest_score_divides.cpp: divides once for each deviation.
// pragma-flags: -O3 -march=native -fopenmp -ffinite-math-only
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel.h"

constexpr int kValues = task::x_dims[0], kScores = task::mean_dims[0], kTogether = 64;

static void Block(const float* __restrict x, const float* __restrict mean,
                  const float* __restrict reciprocal, float* __restrict out) {
  float largest[kTogether];
  for (float& value : largest) value = std::numeric_limits<float>::lowest();
  for (int k = 0; k < kScores; ++k) {
    for (int i = 0; i < kTogether; ++i)
      largest[i] = std::max(largest[i], (x[i] - mean[k]) * reciprocal[k]);
  }
  for (int i = 0; i < kTogether; ++i) out[i] = largest[i];
}

extern "C" void pragma_kernel(const float* x, const float* mean, const float* deviation, float* out,
                              void* /*scratch*/) {
  float reciprocal[kScores];
  for (int k = 0; k < kScores; ++k) reciprocal[k] = 1 / (std::abs(deviation[k]) + 0.5F);
#pragma omp parallel for
  for (int i = 0; i < kValues; i += kTogether) Block(x + i, mean, reciprocal, out + i);
}
