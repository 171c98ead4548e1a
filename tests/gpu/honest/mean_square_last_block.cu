// task: tests/gpu/tasks/mean_square.py
// One launch: the block that comes last, by a counter, adds what all have written, and sets the
// counter back for the next call (as NVIDIA's threadFenceReduction does).
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];
constexpr int kThreads = 256;
constexpr int kBlocks = 128;

__device__ float partial[kBlocks];
__device__ unsigned finished = 0;

__device__ float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  return value;
}

// Of all threads of the block, to each of them.
__device__ float BlockSum(float value) {
  __shared__ float parts[kThreads / 32];
  value = WarpSum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0F;
  for (const float part : parts) sum += part;
  return sum;
}

__global__ void MeanSquare(const float* __restrict__ x, float* __restrict__ out) {
  __shared__ bool last;
  float sum = 0.0F;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += kBlocks * kThreads)
    sum += x[i] * x[i];
  sum = BlockSum(sum);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&finished, kBlocks - 1) == kBlocks - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  const volatile float* written = partial;
  sum = BlockSum(threadIdx.x < kBlocks ? written[threadIdx.x] : 0.0F);
  if (threadIdx.x == 0) out[0] = sum / kCount;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  MeanSquare<<<kBlocks, kThreads, 0, stream>>>(x, out);
}
