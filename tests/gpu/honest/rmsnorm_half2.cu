// task: tests/gpu/tasks/rmsnorm_fp16.py
// Two halves at once, squares in fp32; a row to each block.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kPairs = task::x_dims[1] / 2;
constexpr int kThreads = 128;
static_assert(task::x_dims[1] % 2 == 0);

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

__global__ void RmsNorm(const __half2* __restrict__ x, const __half2* __restrict__ weight,
                        __half2* __restrict__ out) {
  const __half2* from = x + blockIdx.x * kPairs;
  float sum = 0.0F;
  for (int i = threadIdx.x; i < kPairs; i += kThreads) {
    const float2 value = __half22float2(from[i]);
    sum += value.x * value.x + value.y * value.y;
  }
  const float scale = rsqrtf(BlockSum(sum) / (2 * kPairs) + 1e-5F);
  for (int i = threadIdx.x; i < kPairs; i += kThreads) {
    const float2 value = __half22float2(from[i]);
    const float2 factor = __half22float2(weight[i]);
    out[blockIdx.x * kPairs + i] =
        __floats2half2_rn(value.x * scale * factor.x, value.y * scale * factor.y);
  }
}

}  // namespace

extern "C" void pragma_launch(const __half* x, const __half* weight, __half* out, void*,
                              cudaStream_t stream) {
  RmsNorm<<<kRows, kThreads, 0, stream>>>(reinterpret_cast<const __half2*>(x),
                                          reinterpret_cast<const __half2*>(weight),
                                          reinterpret_cast<__half2*>(out));
}
