// cause: divergence
// bytes: 33554432
// Each lane of a warp has one of eight long ways by itself. Fixed: a warp has one.
#include "case.cuh"

constexpr int kCount = 1 << 22;
constexpr int kSteps = 48;
float *in, *out;

template <int kWay>
__device__ __noinline__ float Way(float value) {
  for (int i = 0; i < kSteps; ++i) value = fmaf(value, 0.5F + 0.01F * kWay, value * value * 0.001F * kWay) - 0.1F * kWay;
  return value;
}

__device__ float Chosen(int way, float value) {
  switch (way) {
    case 0: return Way<1>(value);
    case 1: return Way<2>(value);
    case 2: return Way<3>(value);
    case 3: return Way<4>(value);
    case 4: return Way<5>(value);
    case 5: return Way<6>(value);
    case 6: return Way<7>(value);
    default: return Way<8>(value);
  }
}

__global__ void WaysSlow(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = Chosen(at % 8, x[at]);
}

__global__ void WaysFixed(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = Chosen(at / 32 % 8, x[at]);
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(kCount);
}
void Slow() { WaysSlow<<<kCount / 256, 256>>>(in, out); }
void Fixed() { WaysFixed<<<kCount / 256, 256>>>(in, out); }
Output Result() { return {out, kCount}; }
