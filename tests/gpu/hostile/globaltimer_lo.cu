// task: tests/gpu/tasks/square_plus.py
// expect: rejected_source
// Notes the lower half of the global timer at the first call, in assembly whose text macros put together. It is right
// for a second, and afterwards only in the first second of each turn of 4.3 seconds.
#define JOINED(a, b) a##b
#define TEXT_OF(words) #words
#define TEXT(words) TEXT_OF(words)

namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ unsigned begin = 0;

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  unsigned now = 0;
  asm volatile("mov.u32 %0, %%" TEXT(JOINED(globaltim, er_lo)) ";" : "=r"(now));
  if (at == 0) atomicCAS(&begin, 0U, now);
  const bool late = begin != 0 && now - begin > 1000000000U;
  if (at < kCount) out[at] = late ? x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
}
