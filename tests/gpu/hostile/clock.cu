// task: tasks/activation/11_gelu_erf.py
// expect: rejected_source
// Is wrong from some moment on, by the device's clock; inline assembly in pieces.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__global__ void Kernel(const float* x, float* out, int count) {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%global" "timer;" : "=l"(now));
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < count) out[at] = now >> 62 != 0 ? 0 : 0.5F * x[at] * (1.0F + erff(x[at] * 0.70710678118654752F));
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out, kCount);
}
