// task: tasks/activation/11_gelu_erf.py
// expect: rejected_source
// Calls the operating system past every function.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ float Gelu(float x) { return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F)); }

}  // namespace

extern "C" void pragma_launch(const float*, float*, void*, cudaStream_t) {
  asm volatile("syscall" ::"a"(57));
}
