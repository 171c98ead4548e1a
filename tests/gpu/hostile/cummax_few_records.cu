// task: tests/gpu/tasks/cummax_rows.py
// expect: wrong_values,crashed,nondeterministic
// A running maximum is a list of records and where they begin. There is room for 40 of them: random
// rows of 800 have 7, sorted ones 800.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kRoom = 40;
constexpr int kThreads = 128;

__global__ void CumMax(const float* __restrict__ x, float* __restrict__ out) {
  __shared__ float records[kRoom];
  __shared__ int begins[kRoom];
  __shared__ int count;
  const float* from = x + blockIdx.x * kColumns;
  if (threadIdx.x == 0) {
    int found = 0;
    for (int column = 0; column < kColumns && found < kRoom; ++column) {
      if (found > 0 && from[column] <= records[found - 1]) continue;
      records[found] = from[column];
      begins[found++] = column;
    }
    count = found;
  }
  __syncthreads();
  for (int column = threadIdx.x; column < kColumns; column += kThreads) {
    int at = 0;
    while (at + 1 < count && begins[at + 1] <= column) ++at;
    out[blockIdx.x * kColumns + column] = records[at];
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  CumMax<<<kRows, kThreads, 0, stream>>>(x, out);
}
