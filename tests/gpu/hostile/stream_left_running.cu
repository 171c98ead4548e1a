// task: tests/gpu/tasks/square_plus.py
// expect: rejected_source
// Launches the second half on a stream of its own, for which nobody waits: the call seems to take half of the time.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];
constexpr int kHalf = kCount / 2;

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out, int count) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < count) out[at] = x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  static cudaStream_t own = nullptr;
  if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  Kernel<<<(kHalf + 255) / 256, 256, 0, stream>>>(x, out, kHalf);
  Kernel<<<(kCount - kHalf + 255) / 256, 256, 0, own>>>(x + kHalf, out + kHalf, kCount - kHalf);
}
