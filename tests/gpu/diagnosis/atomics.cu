// cause: atomics_contention
// bytes: 67108928
// All threads add to the same sixteen numbers. Fixed: a block adds up by itself first.
#include "case.cuh"

constexpr int kCount = 1 << 24;
constexpr int kBins = 16;
float *in, *out;

__device__ int BinOf(float value) { return static_cast<int>((value + 0.5F) * kBins) % kBins; }

__global__ void BinsSlow(const float* __restrict__ x, float* __restrict__ bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x) atomicAdd(bins + BinOf(x[i]), x[i]);
}

__global__ void BinsFixed(const float* __restrict__ x, float* __restrict__ bins) {
  __shared__ float mine[kBins * 256];
  for (int i = threadIdx.x; i < kBins * 256; i += 256) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCount; i += gridDim.x * blockDim.x)
    mine[BinOf(x[i]) * 256 + threadIdx.x] += x[i];
  __syncthreads();
  const int bin = threadIdx.x / 16;
  float sum = 0;
  for (int i = threadIdx.x % 16; i < 256; i += 16) sum += mine[bin * 256 + i];
  for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
  if (threadIdx.x % 16 == 0) atomicAdd(bins + bin, sum);
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(kBins);
}
void Slow() { BinsSlow<<<1056, 256>>>(in, out); }
void Fixed() { BinsFixed<<<1056, 256>>>(in, out); }
Output Result() { return {out, kBins}; }
