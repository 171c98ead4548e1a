// cause: not_fused_fp
// bytes: 8388608
// A polynomial by products and sums. Fixed: by multiply-adds.
#include "case.cuh"

constexpr int kCount = 1 << 20;
constexpr int kSteps = 512;
float *in, *out;

__global__ void PolynomialSlow(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0, b = 1, c = 2, d = 3;
  const float value = x[at];
#pragma unroll 8
  for (int i = 0; i < kSteps; ++i) {
    a = __fadd_rn(__fmul_rn(a, value), 0.5F);
    b = __fadd_rn(__fmul_rn(b, value), 0.25F);
    c = __fadd_rn(__fmul_rn(c, value), 0.125F);
    d = __fadd_rn(__fmul_rn(d, value), 0.75F);
  }
  y[at] = a + b + c + d;
}

__global__ void PolynomialFixed(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0, b = 1, c = 2, d = 3;
  const float value = x[at];
#pragma unroll 8
  for (int i = 0; i < kSteps; ++i) {
    a = fmaf(a, value, 0.5F);
    b = fmaf(b, value, 0.25F);
    c = fmaf(c, value, 0.125F);
    d = fmaf(d, value, 0.75F);
  }
  y[at] = a + b + c + d;
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(kCount);
}
void Slow() { PolynomialSlow<<<kCount / 256, 256>>>(in, out); }
void Fixed() { PolynomialFixed<<<kCount / 256, 256>>>(in, out); }
Output Result() { return {out, kCount}; }
