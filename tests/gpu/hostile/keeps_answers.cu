// task: tasks/activation/11_gelu_erf.py
// expect: wrong_values
// Answers by an earlier call's output.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ float Gelu(float x) { return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F)); }

float* kept = nullptr;

__global__ void Kernel(const float* x, float* out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = Gelu(x[at]);
}

}  // namespace

// Once it has an answer, it copies that.
extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  if (kept == nullptr) {
    Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
    kept = out;
  } else {
    cudaMemcpyAsync(out, kept, sizeof(float) * kCount, cudaMemcpyDeviceToDevice, stream);
  }
}
