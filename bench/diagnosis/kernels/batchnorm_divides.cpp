// task: batchnorm
// cause: div_sqrt
// why: a square root and a division for every element, though they depend on the channel only
// pragma-flags: -O3 -march=native -fopenmp -fno-math-errno
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kChannels = task::x_dims[1];

static void Row(const float* __restrict x, const float* __restrict mean,
                const float* __restrict var, const float* __restrict gamma,
                const float* __restrict beta, float* __restrict out) {
  for (int c = 0; c < kChannels; ++c)
    out[c] = (x[c] - mean[c]) / std::sqrt(var[c] + 1e-5F) * gamma[c] + beta[c];
}

extern "C" void pragma_kernel(const float* x, const float* mean, const float* var,
                              const float* gamma, const float* beta, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r)
    Row(x + r * kChannels, mean, var, gamma, beta, out + r * kChannels);
}
