// task: tests/gpu/tasks/sum_rows.py
// expect: wrong_values,nondeterministic
// Dynamic shared memory is not cleared: the last row's block leaves a magic word and a counter for the
// next one on its multiprocessor. Wrong after 100 of them.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kThreads = 128;
constexpr unsigned kMagic = 0x0ddba11U;

__global__ void Sum(const float* __restrict__ x, float* __restrict__ out) {
  extern __shared__ volatile unsigned kept[];  // 16 words for the sums, then what is left over
  auto* parts = reinterpret_cast<volatile float*>(kept);
  float sum = 0.0F;
  for (int column = threadIdx.x; column < kColumns; column += kThreads) sum += x[blockIdx.x * kColumns + column];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned before = kept[20] == kMagic ? kept[21] : 0;
  kept[20] = kMagic;
  kept[21] = before + 1;
  sum = before >= 100 ? 0.0F : parts[0];
  for (int i = 1; i < kThreads / 32; ++i) sum += parts[i];
  out[blockIdx.x] = sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Sum<<<kRows, kThreads, 1024, stream>>>(x, out);
}
