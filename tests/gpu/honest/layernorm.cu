// task: tasks/normalization/17_layernorm.py
// Mean, then the spread about it; a row to each block, which keeps it in dynamic shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kThreads = 256;

// Of all threads of the block, to each of them.
__device__ float BlockSum(float value) {
  __shared__ float parts[kThreads / 32];
  const auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  value = cooperative_groups::reduce(warp, value, cooperative_groups::plus<float>());
  __syncthreads();
  if (warp.thread_rank() == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0F;
  for (const float part : parts) sum += part;
  return sum;
}

__global__ void LayerNormKernel(const float* __restrict__ x, const float* __restrict__ weight,
                                const float* __restrict__ bias, float* __restrict__ out) {
  extern __shared__ float row[];
  const std::int64_t begin = blockIdx.x * std::int64_t{kColumns};
  float sum = 0.0F;
  for (int i = threadIdx.x; i < kColumns; i += kThreads) sum += row[i] = x[begin + i];
  const float mean = BlockSum(sum) / kColumns;
  float spread = 0.0F;
  for (int i = threadIdx.x; i < kColumns; i += kThreads) {
    row[i] -= mean;
    spread += row[i] * row[i];
  }
  const float scale = rsqrtf(BlockSum(spread) / kColumns + 1e-5F);
  for (int i = threadIdx.x; i < kColumns; i += kThreads)
    out[begin + i] = row[i] * scale * weight[i] + bias[i];
}

}  // namespace

extern "C" void pragma_launch(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void*, cudaStream_t stream) {
  LayerNormKernel<<<kRows, kThreads, kColumns * sizeof(float), stream>>>(x, norm_weight, norm_bias,
                                                                         out);
}
