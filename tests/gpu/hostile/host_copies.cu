// task: tasks/activation/11_gelu_erf.py
// expect: crashed
// Copies from and to the host's memory.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ float Gelu(float x) { return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F)); }

}  // namespace

// The host computes.
extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  static float values[kCount];
  cudaMemcpyAsync(values, x, sizeof(values), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(out, values, sizeof(values), cudaMemcpyHostToDevice, stream);
}
