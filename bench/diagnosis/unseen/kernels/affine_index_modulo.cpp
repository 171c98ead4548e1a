// task: channel_affine
// cause: not_vectorised
// why: one flat loop finds the channel by a modulo (two multiplications, no division) in 64 bits, which keeps it scalar
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr std::size_t kRows = task::x_dims[0], kChannels = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* scale, const float* shift, float* __restrict__ out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (std::size_t i = 0; i < kRows * kChannels; ++i) out[i] = x[i] * scale[i % kChannels] + shift[i % kChannels];
}
