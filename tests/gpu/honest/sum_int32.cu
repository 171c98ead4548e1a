// task: tests/gpu/tasks/sum_rows_int32.py
// A row to each block; sums of 32 bits, which wrap as Torch's do.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kThreads = 128;

__global__ void Sum(const std::int32_t* __restrict__ x, std::int32_t* __restrict__ out) {
  __shared__ unsigned parts[kThreads / 32];
  unsigned sum = 0;
  for (int column = threadIdx.x; column < kColumns; column += kThreads)
    sum += static_cast<unsigned>(x[blockIdx.x * kColumns + column]);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  sum = 0;
  for (const unsigned part : parts) sum += part;
  out[blockIdx.x] = static_cast<std::int32_t>(sum);
}

}  // namespace

extern "C" void pragma_launch(const std::int32_t* x, std::int32_t* out, void*, cudaStream_t stream) {
  Sum<<<kRows, kThreads, 0, stream>>>(x, out);
}
