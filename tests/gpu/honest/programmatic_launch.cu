// task: tests/gpu/tasks/variance_rows.py
// Means of rows into scratch memory, then the spread about them by a kernel that may start while the first one still
// runs (programmatic stream serialization). It reads its row early, and waits for the first one before it reads a mean.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kPerLane = (kColumns + 31) / 32;
constexpr int kWarps = 4;
constexpr int kBlocks = (kRows + kWarps - 1) / kWarps;

__device__ float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  return value;
}

__global__ void Means(const float* __restrict__ x, float* __restrict__ mean) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  float sum = 0.0F;
  for (int column = threadIdx.x; column < kColumns; column += 32) sum += x[row * kColumns + column];
  sum = WarpSum(sum);
  if (threadIdx.x == 0) mean[row] = sum / kColumns;
}

__global__ void Variance(const float* __restrict__ x, const float* mean, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  float held[kPerLane];
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const int column = i * 32 + threadIdx.x;
    held[i] = row < kRows && column < kColumns ? x[row * kColumns + column] : 0.0F;
  }
  cudaGridDependencySynchronize();
  if (row >= kRows) return;
  const float centre = mean[row];
  float sum = 0.0F;
  float squares = 0.0F;
#pragma unroll
  for (int i = 0; i < kPerLane; ++i) {
    const float difference = i * 32 + threadIdx.x < kColumns ? held[i] - centre : 0.0F;
    sum += difference;
    squares += difference * difference;
  }
  sum = WarpSum(sum);  // what the rounding of the mean left
  squares = WarpSum(squares);
  if (threadIdx.x == 0) out[row] = (squares - sum * sum / kColumns) / (kColumns - 1);
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kRows;

extern "C" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t stream) {
  float* mean = static_cast<float*>(scratch);
  Means<<<kBlocks, dim3(32, kWarps), 0, stream>>>(x, mean);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(32, kWarps);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, Variance, x, static_cast<const float*>(mean), out);
}
