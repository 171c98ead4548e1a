// cause: uncoalesced
// bytes: 134217728
// A matrix is transposed: neighbouring lanes read a row apart. Fixed: through a padded tile in shared memory.
#include "case.cuh"

constexpr int kSize = 4096;
constexpr int kTile = 32;
float *in, *out;

__global__ void TransposeSlow(const float* __restrict__ x, float* __restrict__ y) {
  const int column = blockIdx.x * kTile + threadIdx.x;
  for (int row = blockIdx.y * kTile + threadIdx.y; row < (blockIdx.y + 1) * kTile; row += blockDim.y)
    y[std::size_t(row) * kSize + column] = x[std::size_t(column) * kSize + row];
}

__global__ void TransposeFixed(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float tile[kTile][kTile + 1];
  for (int i = threadIdx.y; i < kTile; i += blockDim.y)
    tile[i][threadIdx.x] = x[std::size_t(blockIdx.x * kTile + i) * kSize + blockIdx.y * kTile + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < kTile; i += blockDim.y)
    y[std::size_t(blockIdx.y * kTile + i) * kSize + blockIdx.x * kTile + threadIdx.x] = tile[threadIdx.x][i];
}

void Prepare() {
  in = Values(std::size_t(kSize) * kSize);
  out = Memory<float>(std::size_t(kSize) * kSize);
}
const dim3 kGrid(kSize / kTile, kSize / kTile), kBlock(kTile, 8);
void Slow() { TransposeSlow<<<kGrid, kBlock>>>(in, out); }
void Fixed() { TransposeFixed<<<kGrid, kBlock>>>(in, out); }
Output Result() { return {out, std::size_t(kSize) * kSize}; }
