// task: tasks/activation/11_gelu_erf.py
// expect: wrong_values
// The last blocks are left out.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ float Gelu(float x) { return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F)); }

__global__ void Kernel(const float* x, float* out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = Gelu(x[at]);
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<kCount / 256 - 1, 256, 0, stream>>>(x, out);
}
