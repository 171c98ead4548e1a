// task: tests/gpu/tasks/max_rows.py
// expect: wrong_values
// The greatest of a row starts with zero: wrong for rows of negative elements.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

__global__ void Most(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  float most = 0.0F;
  for (int column = threadIdx.x; column < kColumns; column += 32)
    most = fmaxf(most, x[row * kColumns + column]);
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, step));
  if (threadIdx.x == 0) out[row] = most;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Most<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
