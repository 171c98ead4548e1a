// task: tasks/activation/11_gelu_erf.py
// pragma-flags: -O3 -DTHREADS=256
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__global__ void GeluKernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * THREADS + threadIdx.x;
  if (at < kCount) out[at] = 0.5F * x[at] * (1.0F + erff(x[at] * 0.70710678118654752F));
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  GeluKernel<<<(kCount + THREADS - 1) / THREADS, THREADS, 0, stream>>>(x, out);
}
