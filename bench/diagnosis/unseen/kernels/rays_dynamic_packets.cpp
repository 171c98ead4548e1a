// task: composite
// cause: over_parallel
// why: the threads fetch each packet of eight rays, some thirty nanoseconds of work, from the shared loop counter
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kSamples = task::opacity_dims[0], kRays = task::opacity_dims[1];

using Packet = float __attribute__((vector_size(32), aligned(4), may_alias));
constexpr int kLanes = 8;

extern "C" void pragma_kernel(const float* opacity, const float* colour, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(dynamic)
  for (int r = 0; r < kRays; r += kLanes) {
    Packet left = Packet{} + 1, sum = {};
#pragma GCC unroll 12
    for (int s = 0; s < kSamples; ++s) {
      const Packet part = left * *reinterpret_cast<const Packet*>(opacity + s * kRays + r);
      sum += part * *reinterpret_cast<const Packet*>(colour + s * kRays + r);
      left -= part;
    }
    *reinterpret_cast<Packet*>(out + r) = sum;
  }
}
