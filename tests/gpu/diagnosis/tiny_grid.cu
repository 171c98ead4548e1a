// cause: grid_too_small
// bytes: 134217728
// Eight blocks add up an array. Fixed: 2112 do.
#include "case.cuh"

constexpr int kCount = 1 << 25;
float *in, *out;

__global__ void SumAll(const float* __restrict__ x, float* __restrict__ sum) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x) mine += x[i];
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(~0U, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(1);
}
void Slow() { SumAll<<<8, 256>>>(in, out); }
void Fixed() { SumAll<<<2112, 256>>>(in, out); }
Output Result() { return {out, 1}; }
