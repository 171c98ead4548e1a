// task: tests/gpu/tasks/logsumexp_rows.py
// Blocks take tiles of eight rows by a counter in scratch memory, which is set to zero before each launch.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 8;
constexpr int kTiles = (kRows + kWarps - 1) / kWarps;

template <class Fold>
__device__ float AcrossWarp(float value, Fold fold) {
  for (int step = 16; step > 0; step /= 2)
    value = fold(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

__device__ float LogSumExp(const float* __restrict__ from) {
  float most = -INFINITY;
  for (int i = threadIdx.x; i < kColumns; i += 32) most = fmaxf(most, from[i]);
  most = AcrossWarp(most, [](float a, float b) { return fmaxf(a, b); });
  const float base = isinf(most) ? 0.0F : most;
  float sum = 0.0F;
  for (int i = threadIdx.x; i < kColumns; i += 32) sum += expf(from[i] - base);
  sum = AcrossWarp(sum, [](float a, float b) { return a + b; });
  return base + logf(sum);
}

__global__ void Tiles(const float* __restrict__ x, float* __restrict__ out, unsigned* next) {
  __shared__ unsigned tile;
  for (;;) {
    if (threadIdx.x == 0 && threadIdx.y == 0) tile = atomicAdd(next, 1U);
    __syncthreads();
    const unsigned mine = tile;
    __syncthreads();
    if (mine >= kTiles) return;
    const int row = mine * kWarps + threadIdx.y;
    if (row >= kRows) continue;
    const float result = LogSumExp(x + row * kColumns);
    if (threadIdx.x == 0) out[row] = result;
  }
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(unsigned);

extern "C" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t stream) {
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  cudaMemsetAsync(scratch, 0, sizeof(unsigned), stream);
  Tiles<<<processors, dim3(32, kWarps), 0, stream>>>(x, out, static_cast<unsigned*>(scratch));
}
