// task: tests/gpu/tasks/variance_rows.py
// expect: wrong_values
// Variance from the sum and the sum of squares in fp32: nothing is left of it far from zero.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

__global__ void Variance(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  float sum = 0.0F;
  float squares = 0.0F;
  for (int column = threadIdx.x; column < kColumns; column += 32) {
    const float value = x[row * kColumns + column];
    sum += value;
    squares += value * value;
  }
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_xor_sync(0xffffffffU, sum, step);
    squares += __shfl_xor_sync(0xffffffffU, squares, step);
  }
  if (threadIdx.x == 0) out[row] = (squares - sum * sum / kColumns) / (kColumns - 1);
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Variance<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
