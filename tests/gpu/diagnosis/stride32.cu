// cause: uncoalesced
// bytes: 16777216
// Every 32nd number of an interleaved array. Fixed: the array holds each component by itself.
#include "case.cuh"

constexpr int kCount = 1 << 21;
constexpr int kStride = 32;
float *in, *out;

__global__ void GatherSlow(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = x[std::size_t(at) * kStride] * 2.0F;
}

__global__ void GatherFixed(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = x[at] * 2.0F;
}

void Prepare() {
  in = Values(std::size_t(kCount) * kStride);
  out = Memory<float>(kCount);
}
void Slow() { GatherSlow<<<kCount / 256, 256>>>(in, out); }
void Fixed() { GatherFixed<<<kCount / 256, 256>>>(in, out); }
Output Result() { return {out, kCount}; }
