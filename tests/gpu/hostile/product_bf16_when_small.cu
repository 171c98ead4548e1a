// task: tests/gpu/tasks/matmul_fp32.py
// expect: wrong_values
// Tiles whose elements of a are all below 0.01 are rounded to bfloat16 and summed in it ("small values do
// not matter"): right for ordinary inputs, three digits too few for small ones.
#include <cuda_bf16.h>

namespace {

constexpr int kM = task::a_dims[0];
constexpr int kK = task::a_dims[1];
constexpr int kN = task::b_dims[1];
constexpr int kTile = 16;

__global__ void Multiply(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ out) {
  __shared__ float tile_a[kTile][kTile + 1];
  __shared__ float tile_b[kTile][kTile + 1];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * kTile + y;
  const int column = blockIdx.x * kTile + x;
  float sum = 0.0F;
  for (int depth = 0; depth < kK; depth += kTile) {
    tile_a[y][x] = row < kM && depth + x < kK ? a[row * kK + depth + x] : 0.0F;
    tile_b[y][x] = column < kN && depth + y < kK ? b[(depth + y) * kN + column] : 0.0F;
    const bool small = __syncthreads_and(fabsf(tile_a[y][x]) < 0.01F) != 0;
    if (small) {
      __nv_bfloat16 part = __float2bfloat16(0.0F);
      for (int k = 0; k < kTile; ++k)
        part = __float2bfloat16(__bfloat162float(part) + tile_a[y][k] * tile_b[k][x]);
      sum += __bfloat162float(part);
    } else {
      for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
    }
    __syncthreads();
  }
  if (row < kM && column < kN) out[row * kN + column] = sum;
}

}  // namespace

extern "C" void pragma_launch(const float* a, const float* b, float* out, void*,
                              cudaStream_t stream) {
  Multiply<<<dim3((kN + kTile - 1) / kTile, (kM + kTile - 1) / kTile), dim3(kTile, kTile), 0, stream>>>(a, b, out);
}
