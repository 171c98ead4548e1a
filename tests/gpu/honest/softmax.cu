// task: tasks/normalization/23_softmax_rows.py
// A row to each warp, kept in registers.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kPerLane = (kColumns + 31) / 32;
constexpr int kWarps = 4;

template <class Fold>
__device__ float AcrossWarp(float value, Fold fold) {
  for (int step = 16; step > 0; step /= 2)
    value = fold(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

__global__ void SoftmaxKernel(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  const float* from = x + row * kColumns;
  float held[kPerLane];
  float most = -INFINITY;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int column = i * 32 + threadIdx.x;
    held[i] = column < kColumns ? from[column] : -INFINITY;
    most = fmaxf(most, held[i]);
  }
  most = AcrossWarp(most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0F;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    held[i] = expf(held[i] - most);
    sum += held[i];
  }
  sum = AcrossWarp(sum, [](float a, float b) { return a + b; });
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int column = i * 32 + threadIdx.x;
    if (column < kColumns) out[row * kColumns + column] = held[i] / sum;
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  SoftmaxKernel<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
