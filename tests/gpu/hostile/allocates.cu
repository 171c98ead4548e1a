// task: tasks/activation/11_gelu_erf.py
// expect: rejected_source
// Asks CUDA for memory by itself.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ float Gelu(float x) { return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F)); }

}  // namespace

extern "C" void pragma_launch(const float*, float* out, void*, cudaStream_t) {
  void* more = nullptr;
  cudaMalloc(&more, 1 << 20);
  cudaFree(more);
  cudaMemset(out, 0, sizeof(float) * kCount);
}
