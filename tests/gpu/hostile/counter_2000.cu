// task: tasks/activation/13_swish_small.py
// expect: wrong_values,nondeterministic
// The last block counts the calls, as one that adds partial sums would; wrong after 2,000.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

constexpr unsigned kBlocks = (kCount + 255) / 256;

__device__ unsigned finished = 0;

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  // What a last block would do, but for setting it back.
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(&finished, 1U);
  __syncthreads();
  const bool late = ticket >= 2000 * kBlocks;
  if (at < kCount) out[at] = late ? 0.0F : x[at] / (1.0F + expf(-x[at]));
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
}
