// task: tests/gpu/tasks/softmax_rows.py
// Maximum and sum in one pass, from minus infinity; nothing so far is told from a difference.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

// Greatest element so far, and the sum of exponentials under it.
struct Running {
  float most = -INFINITY;
  float sum = 0.0F;
};

__device__ Running Joined(Running a, Running b) {
  const float most = fmaxf(a.most, b.most);
  if (most == -INFINITY) return {most, 0.0F};
  return {most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

__global__ void Softmax(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  const float* from = x + row * kColumns;
  Running all;
  for (int column = threadIdx.x; column < kColumns; column += 32)
    all = Joined(all, {from[column], 1.0F});
  for (int step = 16; step > 0; step /= 2) {
    all = Joined(all, {__shfl_xor_sync(0xffffffffU, all.most, step),
                       __shfl_xor_sync(0xffffffffU, all.sum, step)});
  }
  for (int column = threadIdx.x; column < kColumns; column += 32)
    out[row * kColumns + column] = expf(from[column] - all.most) / all.sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Softmax<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
