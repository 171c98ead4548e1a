// task: tests/gpu/tasks/matmul_deep.py
// The long sum in slices, added by atomic operations to an output that is set to zero first.
namespace {

constexpr int kM = task::a_dims[0];
constexpr int kK = task::a_dims[1];
constexpr int kN = task::b_dims[1];
constexpr int kTile = 16;
constexpr int kSlices = 20;
constexpr int kLength = (kK + kSlices - 1) / kSlices;

__global__ void Multiply(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ out) {
  __shared__ float tile_a[kTile][kTile + 1];
  __shared__ float tile_b[kTile][kTile + 1];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * kTile + y;
  const int column = blockIdx.x * kTile + x;
  const int begin = blockIdx.z * kLength;
  const int end = begin + kLength < kK ? begin + kLength : kK;
  float sum = 0.0F;
  for (int depth = begin; depth < end; depth += kTile) {
    tile_a[y][x] = row < kM && depth + x < end ? a[row * kK + depth + x] : 0.0F;
    tile_b[y][x] = column < kN && depth + y < end ? b[(depth + y) * kN + column] : 0.0F;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  if (row < kM && column < kN) atomicAdd(&out[row * kN + column], sum);
}

}  // namespace

extern "C" void pragma_launch(const float* a, const float* b, float* out, void*,
                              cudaStream_t stream) {
  cudaMemsetAsync(out, 0, sizeof(float) * kM * kN, stream);
  Multiply<<<dim3((kN + kTile - 1) / kTile, (kM + kTile - 1) / kTile, kSlices), dim3(kTile, kTile), 0, stream>>>(a, b, out);
}
