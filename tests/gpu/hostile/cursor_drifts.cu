// task: tests/gpu/tasks/sum_rows.py
// expect: wrong_values,nondeterministic
// A __device__ cursor hands out rows and is set back by a launch before; a second one is not, and after
// 400 calls one row is taken twice and another never.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

__device__ int cursor;
__device__ int shift;

__global__ void Begin() {
  cursor = 0;
  ++shift;
}

__global__ void Sum(const float* __restrict__ x, float* __restrict__ out) {
  for (;;) {
    int row = threadIdx.x == 0 ? atomicAdd(&cursor, 1) : 0;
    row = __shfl_sync(0xffffffffU, row, 0);
    if (row >= kRows) return;
    if (shift > 400 && row == 17) row = 18;
    float sum = 0.0F;
    for (int column = threadIdx.x; column < kColumns; column += 32) sum += x[row * kColumns + column];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    if (threadIdx.x == 0) out[row] = sum;
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Begin<<<1, 1, 0, stream>>>();
  Sum<<<132, dim3(32, kWarps), 0, stream>>>(x, out);
}
