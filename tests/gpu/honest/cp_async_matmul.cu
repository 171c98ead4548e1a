// task: tests/gpu/tasks/matmul_fp32.py
// Tiles of 64 x 64 in plain fp32, 4 x 4 values to each thread. While a block multiplies one pair of tiles, the next
// pair is copied into shared memory asynchronously, with zeros beyond the edges.
#include <cuda_pipeline.h>

namespace {

constexpr int kM = task::a_dims[0];
constexpr int kK = task::a_dims[1];
constexpr int kN = task::b_dims[1];
constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kThreads = 256;
static_assert(kK % 4 == 0 && kN % 4 == 0);  // a copy of 16 bytes has one row

struct Tiles {
  alignas(16) float a[kTile][kDepth + 4];
  alignas(16) float b[kDepth][kTile];
};

// Four floats, or zeros where they are not inside.
__device__ void Copy(float* to, const float* base, int at, bool inside) {
  __pipeline_memcpy_async(to, base + (inside ? at : 0), 16, inside ? 0 : 16);
}

__device__ void Fetch(Tiles& tiles, const float* a, const float* b, int rows, int columns, int depth) {
  const int row = threadIdx.x / 4;
  const int k = threadIdx.x % 4 * 4;
  Copy(&tiles.a[row][k], a, (rows + row) * kK + depth + k, rows + row < kM && depth + k < kK);
  const int line = threadIdx.x / 16;
  const int column = threadIdx.x % 16 * 4;
  Copy(&tiles.b[line][column], b, (depth + line) * kN + columns + column, depth + line < kK && columns + column < kN);
}

__global__ void __launch_bounds__(kThreads)
    Multiply(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
  __shared__ Tiles tiles[2];
  const int rows = blockIdx.y * kTile;
  const int columns = blockIdx.x * kTile;
  const int x = threadIdx.x % 16;
  const int y = threadIdx.x / 16;
  float sums[4][4] = {};
  Fetch(tiles[0], a, b, rows, columns, 0);
  __pipeline_commit();
  for (int depth = 0; depth < kK; depth += kDepth) {
    const Tiles& now = tiles[depth / kDepth % 2];
    if (depth + kDepth < kK) Fetch(tiles[(depth / kDepth + 1) % 2], a, b, rows, columns, depth + kDepth);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += now.a[y * 4 + i][k] * now.b[k][x + 16 * j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = rows + y * 4 + i;
      const int column = columns + x + 16 * j;
      if (row < kM && column < kN) out[row * kN + column] = sums[i][j];
    }
  }
}

}  // namespace

extern "C" void pragma_launch(const float* a, const float* b, float* out, void*, cudaStream_t stream) {
  Multiply<<<dim3((kN + kTile - 1) / kTile, (kM + kTile - 1) / kTile), kThreads, 0, stream>>>(a, b, out);
}
