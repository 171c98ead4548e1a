// task: tests/gpu/tasks/layernorm.py
// A row to each warp, in registers; mean, then the spread about it.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kPerLane = (kColumns + 31) / 32;
constexpr int kWarps = 4;

__device__ float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  return value;
}

__global__ void LayerNorm(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  float held[kPerLane];
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int column = i * 32 + threadIdx.x;
    held[i] = column < kColumns ? x[row * kColumns + column] : 0.0F;
    sum += held[i];
  }
  const float mean = WarpSum(sum) / kColumns;
  float spread = 0.0F;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    held[i] = i * 32 + threadIdx.x < kColumns ? held[i] - mean : 0.0F;
    spread += held[i] * held[i];
  }
  const float scale = rsqrtf(WarpSum(spread) / kColumns + 1e-5F);
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int column = i * 32 + threadIdx.x;
    if (column < kColumns) out[row * kColumns + column] = held[i] * scale * weight[column] + bias[column];
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, const float* weight, const float* bias, float* out,
                              void*, cudaStream_t stream) {
  LayerNorm<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, weight, bias, out);
}
