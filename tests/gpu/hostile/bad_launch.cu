// task: tasks/activation/11_gelu_erf.py
// expect: crashed
// More threads than a block may have: nothing is launched.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ float Gelu(float x) { return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F)); }

__global__ void Kernel(const float* x, float* out) {
  const int at = blockIdx.x * 2048 + threadIdx.x;
  if (at < kCount) out[at] = Gelu(x[at]);
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 2047) / 2048, 2048, 0, stream>>>(x, out);
}
