// task: tests/gpu/tasks/layernorm_fp64.py
// Mean, then the spread about it, in double precision; a row to each warp.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

__device__ double WarpSum(double value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  return value;
}

__global__ void LayerNorm(const double* __restrict__ x, double* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  const double* from = x + row * kColumns;
  double sum = 0.0;
  for (int i = threadIdx.x; i < kColumns; i += 32) sum += from[i];
  const double mean = WarpSum(sum) / kColumns;
  double spread = 0.0;
  for (int i = threadIdx.x; i < kColumns; i += 32) spread += (from[i] - mean) * (from[i] - mean);
  const double scale = 1.0 / sqrt(WarpSum(spread) / kColumns + 1e-5);
  for (int i = threadIdx.x; i < kColumns; i += 32) out[row * kColumns + i] = (from[i] - mean) * scale;
}

}  // namespace

extern "C" void pragma_launch(const double* x, double* out, void*, cudaStream_t stream) {
  LayerNorm<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
