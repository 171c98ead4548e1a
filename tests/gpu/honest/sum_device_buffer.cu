// task: tests/gpu/tasks/sum_columns.py
// Partial sums of blocks of rows in a __device__ buffer, written anew in each call; then their sum.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kThreads = 128;
constexpr int kLength = 50;
constexpr int kParts = (kRows + kLength - 1) / kLength;
constexpr int kBlocks = (kColumns + kThreads - 1) / kThreads;

__device__ float partial[kParts * kColumns];

__global__ void Part(const float* __restrict__ x) {
  const int column = blockIdx.x * kThreads + threadIdx.x;
  if (column >= kColumns) return;
  const int begin = blockIdx.y * kLength;
  const int end = begin + kLength < kRows ? begin + kLength : kRows;
  float sum = 0.0F;
  for (int row = begin; row < end; ++row) sum += x[row * kColumns + column];
  partial[blockIdx.y * kColumns + column] = sum;
}

__global__ void Add(float* __restrict__ out) {
  const int column = blockIdx.x * kThreads + threadIdx.x;
  if (column >= kColumns) return;
  float sum = 0.0F;
  for (int part = 0; part < kParts; ++part) sum += partial[part * kColumns + column];
  out[column] = sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Part<<<dim3(kBlocks, kParts), kThreads, 0, stream>>>(x);
  Add<<<kBlocks, kThreads, 0, stream>>>(out);
}
