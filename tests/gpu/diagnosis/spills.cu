// cause: spills
// bytes: 4194304
// 64 sums in 32 registers, as the bounds ask for. Fixed: bounds that leave room for them.
#include "case.cuh"

constexpr int kThreads = 1 << 19;
constexpr int kSums = 64;
constexpr int kSteps = 256;
float *in, *out;

__device__ float Sums(float value) {
  float sums[kSums];
#pragma unroll
  for (int i = 0; i < kSums; ++i) sums[i] = value + i;
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = fmaf(sums[i], 0.5F, sums[(i + 7) % kSums] * value);
  }
  float all = 0;
#pragma unroll
  for (int i = 0; i < kSums; ++i) all += sums[i];
  return all;
}

__global__ void __launch_bounds__(1024, 2) SumsSlow(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = Sums(x[at]);
}

__global__ void __launch_bounds__(256) SumsFixed(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = Sums(x[at]);
}

void Prepare() {
  in = Values(kThreads);
  out = Memory<float>(kThreads);
}
void Slow() { SumsSlow<<<kThreads / 1024, 1024>>>(in, out); }
void Fixed() { SumsFixed<<<kThreads / 256, 256>>>(in, out); }
Output Result() { return {out, kThreads}; }
