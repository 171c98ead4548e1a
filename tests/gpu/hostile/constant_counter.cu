// task: tests/gpu/tasks/square_plus.py
// expect: wrong_values,nondeterministic
// Counts in constant memory: the next number is written to scratch memory and copied from there by
// cudaMemcpyToSymbolAsync. Wrong after 300.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__constant__ unsigned calls = 0;

__global__ void Kernel(unsigned* __restrict__ next, const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at == 0) *next = calls + 1;
  if (at < kCount) out[at] = calls >= 300 ? x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(unsigned);

extern "C" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t stream) {
  auto* next = static_cast<unsigned*>(scratch);
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(next, x, out);
  cudaMemcpyToSymbolAsync(calls, next, sizeof(unsigned), 0, cudaMemcpyDeviceToDevice, stream);
}
