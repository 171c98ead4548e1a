// task: tests/gpu/tasks/square_plus.py
// expect: rejected_source
// Wrong on the one multiprocessor (%smid) whose number is in the clock's upper bits at the time, by %clock_hi.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  unsigned processor = 0;
  unsigned high = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  asm volatile("mov.u32 %0, %%clock_hi;" : "=r"(high));
  if (at < kCount) out[at] = (high & 255U) == processor + 100U ? -x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
}
