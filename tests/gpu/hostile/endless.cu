// task: tasks/activation/11_gelu_erf.py
// expect: timeout
// A loop that does not end.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ float Gelu(float x) { return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F)); }

__global__ void Kernel(volatile float* out) {
  while (out[0] == out[0]) out[1] = 0.0F;
}

}  // namespace

extern "C" void pragma_launch(const float*, float* out, void*, cudaStream_t stream) {
  Kernel<<<1, 1, 0, stream>>>(out);
}
