// cause: l2_misses
// bytes: 268435456
// Eight passes over an array far larger than the cache. Fixed: eight passes over a part of it, then the next part.
#include "case.cuh"

constexpr int kCount = 1 << 26;
constexpr int kPasses = 8;
constexpr int kPart = 4096;
constexpr int kBlocks = 1056;
float *in, *out;

__global__ void PassesSlow(const float* __restrict__ x, float* __restrict__ sums) {
  float sum = 0;
  for (int pass = 0; pass < kPasses; ++pass)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x) sum = sum * 0.25F + __ldcg(x + i);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void PassesFixed(const float* __restrict__ x, float* __restrict__ sums) {
  float sum = 0;
  for (int part = blockIdx.x; part < kCount / kPart; part += gridDim.x)
    for (int pass = 0; pass < kPasses; ++pass)
      for (int i = threadIdx.x; i < kPart; i += blockDim.x) sum = sum * 0.25F + x[part * kPart + i];
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(kBlocks * 256);
}
void Slow() { PassesSlow<<<kBlocks, 256>>>(in, out); }
void Fixed() { PassesFixed<<<kBlocks, 256>>>(in, out); }
Output Result() { return {out, kBlocks * 256}; }
