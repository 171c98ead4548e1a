// task: tests/gpu/tasks/groupnorm.py
// expect: wrong_values
// Variance as E[x^2] - E[x]^2 in fp32: nothing is left of it far from zero.
namespace {

constexpr int kImages = task::x_dims[0];
constexpr int kChannels = task::x_dims[1];
constexpr int kPixels = task::x_dims[2] * task::x_dims[3];
constexpr int kGroups = 6;
constexpr int kCount = kChannels / kGroups * kPixels;
constexpr int kThreads = 256;

__device__ float BlockSum(float value) {
  __shared__ float parts[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0F;
  for (const float part : parts) sum += part;
  return sum;
}

__global__ void GroupNorm(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ out) {
  const int begin = blockIdx.x * kCount;
  float sum = 0.0F;
  float squares = 0.0F;
  for (int i = threadIdx.x; i < kCount; i += kThreads) {
    const float value = x[begin + i];
    sum += value;
    squares += value * value;
  }
  const float mean = BlockSum(sum) / kCount;
  const float variance = fmaxf(BlockSum(squares) / kCount - mean * mean, 0.0F);
  const float scale = rsqrtf(variance + 1e-5F);
  for (int i = threadIdx.x; i < kCount; i += kThreads) {
    const int channel = (begin + i) / kPixels % kChannels;
    out[begin + i] = (x[begin + i] - mean) * scale * weight[channel] + bias[channel];
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, const float* weight, const float* bias, float* out,
                              void*, cudaStream_t stream) {
  GroupNorm<<<kImages * kGroups, kThreads, 0, stream>>>(x, weight, bias, out);
}
