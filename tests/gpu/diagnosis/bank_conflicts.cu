// cause: bank_conflicts
// bytes: 8388608
// A tile in shared memory is read down its columns, 32 words apart. Fixed: a row has 33.
#include "case.cuh"

constexpr int kBlocks = 1024;
constexpr int kTile = 32;
constexpr int kRounds = 64;
float *in, *out;

template <int kPitch>
__device__ void Columns(const float* x, float* y) {
  __shared__ float tile[kTile * kPitch];
  const int row = threadIdx.x / kTile;
  const int lane = threadIdx.x % kTile;
  const std::size_t at = std::size_t(blockIdx.x) * kTile * kTile + threadIdx.x;
  tile[row * kPitch + lane] = x[at];
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < kRounds; ++round) sum += tile[lane * kPitch + ((row + round) % kTile)];
  y[at] = sum;
}

__global__ void ColumnsSlow(const float* __restrict__ x, float* __restrict__ y) { Columns<kTile>(x, y); }
__global__ void ColumnsFixed(const float* __restrict__ x, float* __restrict__ y) { Columns<kTile + 1>(x, y); }

void Prepare() {
  in = Values(kBlocks * kTile * kTile);
  out = Memory<float>(kBlocks * kTile * kTile);
}
void Slow() { ColumnsSlow<<<kBlocks, kTile * kTile>>>(in, out); }
void Fixed() { ColumnsFixed<<<kBlocks, kTile * kTile>>>(in, out); }
Output Result() { return {out, kBlocks * kTile * kTile}; }
