// cause: low_occupancy_registers
// bytes: 202375168
// 192 numbers are held over a walk from element to element, so few warps fit beside each other to hide its latency.
// Fixed: they are read after it, one at a time.
#include "case.cuh"

constexpr int kThreads = 1 << 18;
constexpr int kKept = 192;
constexpr int kSteps = 48;
float *in, *out;

// Volatile: so that what is read first stays first, however long it is kept.
__device__ int Walk(const volatile float* x, int thread) {
  int at = thread;
  for (int step = 0; step < kSteps; ++step) at = (__float_as_int(x[std::size_t(at) * 8]) >> 3 ^ at * 5 + step) & (kThreads - 1);
  return at;
}

__global__ void __launch_bounds__(256) HoldSlow(const volatile float* x, float* __restrict__ y) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  float kept[kKept];
#pragma unroll
  for (int i = 0; i < kKept; ++i) kept[i] = x[std::size_t(i) * kThreads + thread];
  float sum = Walk(x, thread);
#pragma unroll
  for (int i = 0; i < kKept; ++i) sum += kept[i];
  y[thread] = sum;
}

__global__ void __launch_bounds__(256) HoldFixed(const float* __restrict__ x, float* __restrict__ y) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = Walk(x, thread);
#pragma unroll 8
  for (int i = 0; i < kKept; ++i) sum += x[std::size_t(i) * kThreads + thread];
  y[thread] = sum;
}

void Prepare() {
  in = Values(std::size_t(kKept) * kThreads);
  out = Memory<float>(kThreads);
}
void Slow() { HoldSlow<<<kThreads / 256, 256>>>(in, out); }
void Fixed() { HoldFixed<<<kThreads / 256, 256>>>(in, out); }
Output Result() { return {out, kThreads}; }
