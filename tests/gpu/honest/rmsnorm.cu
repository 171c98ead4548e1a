// task: tasks/fused/64_residual_rmsnorm_large.py
// Sum, norm and scale of a row in one pass; the weight in constant memory.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kThreads = 256;
constexpr int kPerThread = (kColumns + kThreads - 1) / kThreads;

__constant__ float constant_weight[kColumns];

__global__ void RmsNormKernel(const float* __restrict__ x, const float* __restrict__ residual,
                              float* __restrict__ out, float* __restrict__ total) {
  __shared__ float parts[kThreads / 32];
  const std::int64_t begin = blockIdx.x * std::int64_t{kColumns};
  float held[kPerThread];
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int column = i * kThreads + threadIdx.x;
    if (column >= kColumns) continue;
    held[i] = x[begin + column] + residual[begin + column];
    total[begin + column] = held[i];
    sum += held[i] * held[i];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0F;
  for (const float part : parts) sum += part;
  const float scale = rsqrtf(sum / kColumns + 1e-6F);
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int column = i * kThreads + threadIdx.x;
    if (column < kColumns) out[begin + column] = held[i] * scale * constant_weight[column];
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, const float* residual, const float* norm_weight,
                              float* out, float* total, void*, cudaStream_t stream) {
  cudaMemcpyToSymbolAsync(constant_weight, norm_weight, sizeof(constant_weight), 0,
                          cudaMemcpyDeviceToDevice, stream);
  RmsNormKernel<<<kRows, kThreads, 0, stream>>>(x, residual, out, total);
}
