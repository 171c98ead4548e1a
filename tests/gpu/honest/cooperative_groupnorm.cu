// task: tests/gpu/tasks/groupnorm.py
// One cooperative launch with a channel to each block: sums of channels into scratch memory, a wait for all blocks,
// the mean of the group from those; then the same with the spread about it, and the result.
#include <cooperative_groups.h>

namespace {

constexpr int kImages = task::x_dims[0];
constexpr int kChannels = task::x_dims[1];
constexpr int kPixels = task::x_dims[2] * task::x_dims[3];
constexpr int kGroups = 6;
constexpr int kShared = kChannels / kGroups;  // channels of a group
constexpr int kCount = kShared * kPixels;
constexpr int kThreads = 128;
static_assert(kChannels % kGroups == 0);

// Of all threads of the block, to each of them.
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

// Of all channels of this block's group. `parts` has one number of each block, and is used once.
__device__ float GroupSum(float value, float* parts) {
  value = BlockSum(value);
  if (threadIdx.x == 0) parts[blockIdx.x] = value;
  cooperative_groups::this_grid().sync();
  const int first = blockIdx.x / kShared * kShared;
  float sum = 0.0F;
  for (int i = 0; i < kShared; ++i) sum += __ldcg(&parts[first + i]);
  return sum;
}

__global__ void __launch_bounds__(kThreads) GroupNorm(const float* x, const float* weight, const float* bias,
                                                      float* out, float* scratch) {
  const float* from = x + blockIdx.x * kPixels;
  float sum = 0.0F;
  for (int i = threadIdx.x; i < kPixels; i += kThreads) sum += from[i];
  const float mean = GroupSum(sum, scratch) / kCount;
  float spread = 0.0F;
  for (int i = threadIdx.x; i < kPixels; i += kThreads) spread += (from[i] - mean) * (from[i] - mean);
  const float variance = GroupSum(spread, scratch + kImages * kChannels) / kCount;
  const float scale = rsqrtf(variance + 1e-5F) * weight[blockIdx.x % kChannels];
  const float shift = bias[blockIdx.x % kChannels];
  for (int i = threadIdx.x; i < kPixels; i += kThreads)
    out[blockIdx.x * kPixels + i] = (from[i] - mean) * scale + shift;
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = 2 * sizeof(float) * kImages * kChannels;

extern "C" void pragma_launch(const float* x, const float* weight, const float* bias, float* out, void* scratch,
                              cudaStream_t stream) {
  void* arguments[] = {&x, &weight, &bias, &out, &scratch};
  cudaLaunchCooperativeKernel(GroupNorm, dim3(kImages * kChannels), dim3(kThreads), arguments, 0, stream);
}
