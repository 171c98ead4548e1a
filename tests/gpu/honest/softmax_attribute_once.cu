// task: tests/gpu/tasks/softmax_wide.py
// A row of 64,000 bytes in shared memory; a flag remembers that the kernel was allowed that much.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kThreads = 512;

template <class Fold>
__device__ float AcrossWarp(float value, Fold fold) {
  for (int step = 16; step > 0; step /= 2)
    value = fold(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

template <class Fold>
__device__ float AcrossBlock(float value, float start, Fold fold) {
  __shared__ float parts[kThreads / 32];
  value = AcrossWarp(value, fold);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  value = start;
  for (const float part : parts) value = fold(value, part);
  return value;
}

__global__ void __launch_bounds__(kThreads) Softmax(const float* __restrict__ x, float* __restrict__ out) {
  extern __shared__ float row[];
  const float* from = x + std::int64_t{blockIdx.x} * kColumns;
  float* to = out + std::int64_t{blockIdx.x} * kColumns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < kColumns; i += kThreads) {
    row[i] = from[i];
    most = fmaxf(most, row[i]);
  }
  most = AcrossBlock(most, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0F;
  for (int i = threadIdx.x; i < kColumns; i += kThreads) {
    row[i] = expf(row[i] - most);
    sum += row[i];
  }
  sum = AcrossBlock(sum, 0.0F, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < kColumns; i += kThreads) to[i] = row[i] / sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  constexpr int kBytes = kColumns * sizeof(float);
  static bool allowed = false;
  if (!allowed) {
    cudaFuncSetAttribute(Softmax, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    allowed = true;
  }
  Softmax<<<kRows, kThreads, kBytes, stream>>>(x, out);
}
