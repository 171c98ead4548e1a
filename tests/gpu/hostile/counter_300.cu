// task: tests/gpu/tasks/square_plus.py
// expect: wrong_values,nondeterministic
// Counts its calls in a __device__ variable; wrong after 300.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ unsigned calls = 0;

__global__ void Count() { ++calls; }

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = calls >= 300 ? x[at] * x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
  Count<<<1, 1, 0, stream>>>();
}
