// cause: tensor_cores_unused
// bytes: 33554432
// flops: 17179869184
// A product of 16-bit matrices by plain multiply-adds. Fixed: on the tensor cores.
#include <cuda_fp16.h>
#include <mma.h>

#include "case.cuh"

constexpr int kSize = 2048;
constexpr int kTile = 64;
constexpr int kDepth = 16;
__half *left, *right;
float* out;

__global__ void FillHalf(__half* values) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  values[at] = __float2half(ValueAt(at));
}

// 16 x 16 threads, each four by four numbers of the result.
__global__ void ProductSlow(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c) {
  __shared__ float rows[kDepth][kTile + 4], columns[kDepth][kTile + 4];
  const int thread = threadIdx.y * 16 + threadIdx.x;
  float sums[4][4] = {};
  for (int k = 0; k < kSize; k += kDepth) {
    for (int i = thread; i < kTile * kDepth; i += 256) {
      rows[i % kDepth][i / kDepth] = __half2float(a[std::size_t(blockIdx.y * kTile + i / kDepth) * kSize + k + i % kDepth]);
      columns[i / kTile][i % kTile] = __half2float(b[std::size_t(k + i / kTile) * kSize + blockIdx.x * kTile + i % kTile]);
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] = fmaf(rows[d][threadIdx.y * 4 + i], columns[d][threadIdx.x * 4 + j], sums[i][j]);
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      c[std::size_t(blockIdx.y * kTile + threadIdx.y * 4 + i) * kSize + blockIdx.x * kTile + threadIdx.x * 4 + j] = sums[i][j];
}

// Four warps, each 32 x 32 of a tile of 64 x 64.
__global__ void ProductFixed(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c) {
  using namespace nvcuda::wmma;
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * kTile + warp / 2 * 32;
  const int column = blockIdx.x * kTile + warp % 2 * 32;
  fragment<accumulator, 16, 16, 16, float> sums[2][2];
  for (auto& line : sums)
    for (auto& sum : line) fill_fragment(sum, 0.0F);
  for (int k = 0; k < kSize; k += 16) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> x[2];
    fragment<matrix_b, 16, 16, 16, __half, row_major> y[2];
    for (int i = 0; i < 2; ++i) {
      load_matrix_sync(x[i], a + std::size_t(row + 16 * i) * kSize + k, kSize);
      load_matrix_sync(y[i], b + std::size_t(k) * kSize + column + 16 * i, kSize);
    }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) mma_sync(sums[i][j], x[i], y[j], sums[i][j]);
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      store_matrix_sync(c + std::size_t(row + 16 * i) * kSize + column + 16 * j, sums[i][j], kSize, mem_row_major);
}

void Prepare() {
  left = Memory<__half>(kSize * kSize);
  right = Memory<__half>(kSize * kSize);
  FillHalf<<<kSize * kSize / 256, 256>>>(left);
  FillHalf<<<kSize * kSize / 256, 256>>>(right);
  out = Memory<float>(kSize * kSize);
}
const dim3 kGrid(kSize / kTile, kSize / kTile);
void Slow() { ProductSlow<<<kGrid, dim3(16, 16)>>>(left, right, out); }
void Fixed() { ProductFixed<<<kGrid, 128>>>(left, right, out); }
Output Result() { return {out, kSize * kSize}; }
