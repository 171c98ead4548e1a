// task: tests/gpu/tasks/softmax_wide.py
// A row to each block, which fetches later parts of that row, and nothing else, into the second-level cache by inline
// assembly while it works on earlier ones.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kThreads = 512;
constexpr int kAhead = 4 * kThreads;
constexpr int kLine = 32;  // floats

// Greatest element so far, and the sum of exponentials under it.
struct Running {
  float most = -INFINITY;
  float sum = 0.0F;
};

__device__ Running Joined(Running a, Running b) {
  const float most = fmaxf(a.most, b.most);
  if (most == -INFINITY) return {most, a.sum + b.sum};
  return {most, a.sum * expf(a.most - most) + b.sum * expf(b.most - most)};
}

__device__ Running AcrossWarp(Running all) {
  for (int step = 16; step > 0; step /= 2) {
    all = Joined(all, {__shfl_xor_sync(0xffffffffU, all.most, step),
                       __shfl_xor_sync(0xffffffffU, all.sum, step)});
  }
  return all;
}

// Of all threads of the block, to each of them.
__device__ Running AcrossBlock(Running all) {
  __shared__ float most[kThreads / 32];
  __shared__ float sum[kThreads / 32];
  all = AcrossWarp(all);
  if (threadIdx.x % 32 == 0) {
    most[threadIdx.x / 32] = all.most;
    sum[threadIdx.x / 32] = all.sum;
  }
  __syncthreads();
  all = {};
  for (int i = 0; i < kThreads / 32; ++i) all = Joined(all, {most[i], sum[i]});
  return all;
}

__global__ void __launch_bounds__(kThreads) Softmax(const float* __restrict__ x, float* __restrict__ out) {
  const float* from = x + std::int64_t{blockIdx.x} * kColumns;
  float* to = out + std::int64_t{blockIdx.x} * kColumns;
  Running all;
  for (int column = threadIdx.x; column < kColumns; column += kThreads) {
    if (threadIdx.x % kLine == 0 && column + kAhead < kColumns)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from + column + kAhead)));
    const float value = from[column];
    all = Joined(all, {value, isnan(value) ? value : 1.0F});  // a NaN stays in the sum
  }
  all = AcrossBlock(all);
  for (int column = threadIdx.x; column < kColumns; column += kThreads)
    to[column] = expf(from[column] - all.most) / all.sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Softmax<<<kRows, kThreads, 0, stream>>>(x, out);
}
