// cause: launch_overhead
// bytes: 196608
// launches: 24
// 24 launches, each of which scales a thousand numbers. Fixed: one.
#include "case.cuh"

constexpr int kRows = 24;
constexpr int kColumns = 1024;
float *in, *out;

__global__ void ScaleRow(const float* __restrict__ x, float* __restrict__ y) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  y[at] = x[at] * 3.0F;
}

void Prepare() {
  in = Values(kRows * kColumns);
  out = Memory<float>(kRows * kColumns);
}
void Slow() {
  for (int row = 0; row < kRows; ++row) ScaleRow<<<kColumns / 128, 128>>>(in + row * kColumns, out + row * kColumns);
}
void Fixed() { ScaleRow<<<kRows * kColumns / 128, 128>>>(in, out); }
Output Result() { return {out, kRows * kColumns}; }
