// cause: unfused_kernels
// bytes: 536870912
// launches: 6
// Six kernels, each of which reads and writes the whole array. Fixed: one.
#include "case.cuh"

constexpr int kCount = 1 << 26;
float *in, *out;

template <int kStep>
__device__ float Step(float value) {
  return kStep % 2 == 0 ? fmaxf(value, -0.1F * kStep) : value * 1.5F + 0.1F * kStep;
}

template <int kStep>
__global__ void OneStep(const float* x, float* y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = Step<kStep>(x[at]);
}

__global__ void AllSteps(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = Step<5>(Step<4>(Step<3>(Step<2>(Step<1>(Step<0>(x[at]))))));
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(kCount);
}
void Slow() {
  constexpr int kBlocks = kCount / 256;
  OneStep<0><<<kBlocks, 256>>>(in, out);
  OneStep<1><<<kBlocks, 256>>>(out, out);
  OneStep<2><<<kBlocks, 256>>>(out, out);
  OneStep<3><<<kBlocks, 256>>>(out, out);
  OneStep<4><<<kBlocks, 256>>>(out, out);
  OneStep<5><<<kBlocks, 256>>>(out, out);
}
void Fixed() { AllSteps<<<kCount / 256, 256>>>(in, out); }
Output Result() { return {out, kCount}; }
