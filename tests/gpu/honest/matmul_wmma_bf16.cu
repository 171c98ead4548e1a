// task: tests/gpu/tasks/matmul_bf16.py
// Matrix instructions on bfloat16 with sums in fp32, which are rounded once; a tile of 16 x 16 to each warp.
#include <mma.h>

namespace {

constexpr int kM = task::a_dims[0];
constexpr int kK = task::a_dims[1];
constexpr int kN = task::b_dims[1];
constexpr int kTile = 16;
static_assert(kM % kTile == 0 && kK % kTile == 0 && kN % kTile == 0);

__global__ void Multiply(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                         __nv_bfloat16* __restrict__ out) {
  using namespace nvcuda;
  __shared__ float tile[kTile * kTile];
  const int row = blockIdx.y * kTile;
  const int column = blockIdx.x * kTile;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0F);
  for (int depth = 0; depth < kK; depth += kTile) {
    wmma::load_matrix_sync(left, a + row * kK + depth, kK);
    wmma::load_matrix_sync(right, b + depth * kN + column, kN);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(tile, sum, kTile, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < kTile * kTile; i += 32)
    out[(row + i / kTile) * kN + column + i % kTile] = __float2bfloat16(tile[i]);
}

}  // namespace

extern "C" void pragma_launch(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out,
                              void*, cudaStream_t stream) {
  Multiply<<<dim3(kN / kTile, kM / kTile), 32, 0, stream>>>(a, b, out);
}
