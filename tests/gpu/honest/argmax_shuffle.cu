// task: tests/gpu/tasks/argmax_rows.py
// Value and position from lane to lane; the first of equal ones.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

__global__ void ArgMax(const float* __restrict__ x, std::int64_t* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  float most = x[row * kColumns + threadIdx.x];
  int at = threadIdx.x;
  for (int column = threadIdx.x + 32; column < kColumns; column += 32) {
    const float value = x[row * kColumns + column];
    if (value > most) {
      most = value;
      at = column;
    }
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffffU, most, step);
    const int other_at = __shfl_xor_sync(0xffffffffU, at, step);
    if (other > most || (other == most && other_at < at)) {
      most = other;
      at = other_at;
    }
  }
  if (threadIdx.x == 0) out[row] = at;
}

}  // namespace

extern "C" void pragma_launch(const float* x, std::int64_t* out, void*, cudaStream_t stream) {
  ArgMax<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
