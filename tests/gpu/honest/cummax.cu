// task: tests/gpu/tasks/cummax_rows.py
// A row to each warp: a scan of 32 elements at a time, and the greatest of those before.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

__global__ void CumMax(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  const int lane = threadIdx.x;
  float before = -INFINITY;
  for (int begin = 0; begin < kColumns; begin += 32) {
    const int column = begin + lane;
    float value = column < kColumns ? x[row * kColumns + column] : -INFINITY;
    for (int step = 1; step < 32; step *= 2) {
      const float other = __shfl_up_sync(0xffffffffU, value, step);
      if (lane >= step) value = fmaxf(value, other);
    }
    value = fmaxf(value, before);
    if (column < kColumns) out[row * kColumns + column] = value;
    before = __shfl_sync(0xffffffffU, value, 31);
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  CumMax<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
