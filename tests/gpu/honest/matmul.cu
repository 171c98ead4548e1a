// task: tasks/matmul/01_matmul_square.py
// Tiles of 64 x 64 in shared memory, 4 x 4 values to each thread; plain fp32. The transposed copy of
// the first factor lies in scratch memory, so that both factors are read along rows.
namespace {

constexpr int kSize = task::a_dims[0];
constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kBlocks = (kSize + kTile - 1) / kTile;

__global__ void Transpose(const float* __restrict__ from, float* __restrict__ to) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kSize * kSize) to[at] = from[at % kSize * kSize + at / kSize];
}

__global__ void Multiply(const float* __restrict__ a_columns, const float* __restrict__ b,
                         float* __restrict__ out) {
  __shared__ float tile_a[kDepth][kTile];
  __shared__ float tile_b[kDepth][kTile];
  const int rows = blockIdx.y * kTile;
  const int columns = blockIdx.x * kTile;
  const int x = threadIdx.x % 16;
  const int y = threadIdx.x / 16;
  float sums[4][4] = {};
  for (int depth = 0; depth < kSize; depth += kDepth) {
    for (int i = threadIdx.x; i < kDepth * kTile; i += 256) {
      const int k = depth + i / kTile;
      const int row = rows + i % kTile;
      const int column = columns + i % kTile;
      tile_a[i / kTile][i % kTile] = k < kSize && row < kSize ? a_columns[k * kSize + row] : 0.0F;
      tile_b[i / kTile][i % kTile] = k < kSize && column < kSize ? b[k * kSize + column] : 0.0F;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += tile_a[k][y * 4 + i] * tile_b[k][x + 16 * j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = rows + y * 4 + i;
      const int column = columns + x + 16 * j;
      if (row < kSize && column < kSize) out[row * kSize + column] = sums[i][j];
    }
  }
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kSize * kSize;

extern "C" void pragma_launch(const float* a, const float* b, float* out, void* scratch,
                              cudaStream_t stream) {
  float* a_columns = static_cast<float*>(scratch);
  Transpose<<<(kSize * kSize + 255) / 256, 256, 0, stream>>>(a, a_columns);
  Multiply<<<dim3(kBlocks, kBlocks), 256, 0, stream>>>(a_columns, b, out);
}
