// cause: tail_effect
// bytes: 2211840
// Two blocks fit to a multiprocessor, so six of 270 wait for all others. Fixed: small parts, dealt out evenly.
#include "case.cuh"

constexpr int kBlocks = 270;
constexpr int kCount = kBlocks * 1024;
constexpr int kSteps = 16384;
constexpr int kPieces = 64;
float *in, *out;

__device__ float Chain(float value, int steps) {
  float a = value, b = value + 1, c = value + 2, d = value + 3;
  for (int i = 0; i < steps; ++i) {
    a = fmaf(a, 0.999F, 0.001F);
    b = fmaf(b, 0.998F, 0.002F);
    c = fmaf(c, 0.997F, 0.003F);
    d = fmaf(d, 0.996F, 0.004F);
  }
  return a + b + c + d;
}

__global__ void __launch_bounds__(1024, 2) StepsSlow(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * 1024 + threadIdx.x;
  y[at] = Chain(x[at], kSteps);
}

// A piece is a 64th of a number's steps; they are as many work as before.
__global__ void __launch_bounds__(1024, 2) StepsFixed(const float* __restrict__ x, float* __restrict__ y) {
  const int threads = gridDim.x * blockDim.x;
  for (int piece = blockIdx.x * blockDim.x + threadIdx.x; piece < kCount * kPieces; piece += threads) {
    const float value = Chain(x[piece / kPieces], kSteps / kPieces);
    if (piece % kPieces == 0 || value > 1e30F) y[piece / kPieces] = value;  // so that all is computed
  }
}

void Prepare() {
  in = Values(kCount);
  out = Memory<float>(kCount);
}
void Slow() { StepsSlow<<<kBlocks, 1024>>>(in, out); }
void Fixed() { StepsFixed<<<264, 1024>>>(in, out); }
Output Result() { return {out, kCount}; }
