// task: tests/gpu/tasks/square_plus.py
// expect: rejected_source
// Notes %globaltimer at the first call; wrong from two seconds later on.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__device__ unsigned long long begin = 0;

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  if (at == 0) atomicCAS(&begin, 0ULL, now);
  const bool late = begin != 0 && now - begin > 2000000000ULL;
  if (at < kCount) out[at] = late ? 0.0F : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
}
