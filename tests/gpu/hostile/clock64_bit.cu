// task: tests/gpu/tasks/square_plus.py
// expect: rejected_source
// Wrong while bit 36 of clock64() is set, which it is from 40 seconds after the device woke, for as long.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  const bool late = (clock64() >> 36 & 1) != 0;
  if (at < kCount) out[at] = late ? x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
}
