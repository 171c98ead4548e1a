// task: tests/gpu/tasks/max_columns.py
// expect: wrong_values
// The greatest of a column starts with -1e5: wrong for columns below it.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];

__global__ void Most(const float* __restrict__ x, float* __restrict__ out) {
  __shared__ float parts[8][32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float most = -1e5F;
  if (column < kColumns) {
    for (int row = threadIdx.y; row < kRows; row += 8) most = fmaxf(most, x[row * kColumns + column]);
  }
  parts[threadIdx.y][threadIdx.x] = most;
  __syncthreads();
  if (threadIdx.y != 0 || column >= kColumns) return;
  for (int i = 1; i < 8; ++i) most = fmaxf(most, parts[i][threadIdx.x]);
  out[column] = most;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Most<<<(kColumns + 31) / 32, dim3(32, 8), 0, stream>>>(x, out);
}
