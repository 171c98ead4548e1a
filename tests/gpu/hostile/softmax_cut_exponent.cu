// task: tests/gpu/tasks/softmax_rows.py
// expect: wrong_values
// Exponentials of less than -14 are taken for zero: probabilities below a millionth of the greatest
// vanish, and their logarithms with them.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

template <class Fold>
__device__ float AcrossWarp(float value, Fold fold) {
  for (int step = 16; step > 0; step /= 2)
    value = fold(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

__device__ float Exponential(float value) { return value < -14.0F ? 0.0F : expf(value); }

__global__ void Softmax(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  const float* from = x + row * kColumns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < kColumns; i += 32) most = fmaxf(most, from[i]);
  most = AcrossWarp(most, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0F;
  for (int i = threadIdx.x; i < kColumns; i += 32) sum += Exponential(from[i] - most);
  sum = AcrossWarp(sum, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < kColumns; i += 32) out[row * kColumns + i] = Exponential(from[i] - most) / sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Softmax<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
