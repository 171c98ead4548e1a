// cause: barrier_stalls
// bytes: 33685504
// A block of 1024 adds up a row in shared memory, a barrier for each halving. Fixed: a warp has a row, by shuffles.
#include "case.cuh"

constexpr int kRows = 8192;
constexpr int kColumns = 1024;
float *in, *out;

__global__ void RowsSlow(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float parts[kColumns];
  parts[threadIdx.x] = x[std::size_t(blockIdx.x) * kColumns + threadIdx.x];
  __syncthreads();
  for (int step = kColumns / 2; step > 0; step /= 2) {
    float sum = 0;
    if (threadIdx.x < step) sum = parts[threadIdx.x] + parts[threadIdx.x + step];
    __syncthreads();
    if (threadIdx.x < step) parts[threadIdx.x] = sum;
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = parts[0];
}

__global__ void RowsFixed(const float* __restrict__ x, float* __restrict__ y) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  float sum = 0;
#pragma unroll 8
  for (int i = threadIdx.x % 32; i < kColumns; i += 32) sum += x[std::size_t(row) * kColumns + i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0U, sum, step);
  if (threadIdx.x % 32 == 0) y[row] = sum;
}

void Prepare() {
  in = Values(kRows * kColumns);
  out = Memory<float>(kRows);
}
void Slow() { RowsSlow<<<kRows, kColumns>>>(in, out); }
void Fixed() { RowsFixed<<<kRows / 8, 256>>>(in, out); }
Output Result() { return {out, kRows}; }
