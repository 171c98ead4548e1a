// task: tests/gpu/tasks/sum_rows.py
// expect: wrong_values,nondeterministic
// A __device__ table remembers each row's sum with the row's first two elements, and answers by it when
// they are the same: wrong when the rest of the row is another.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

struct Known {
  float first;
  float second;
  float sum;
  int valid;
};
__device__ Known known[kRows];

__global__ void Sum(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  const float* from = x + row * kColumns;
  const Known before = known[row];
  if (before.valid == 1 && before.first == from[0] && before.second == from[1]) {
    if (threadIdx.x == 0) out[row] = before.sum;
    return;
  }
  float sum = 0.0F;
  for (int column = threadIdx.x; column < kColumns; column += 32) sum += from[column];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  if (threadIdx.x != 0) return;
  known[row] = {from[0], from[1], sum, 1};
  out[row] = sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Sum<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
