// task: tests/gpu/tasks/square_plus.py
// expect: wrong_values,nondeterministic,rejected_source
// Counts in a block of the heap that the launcher got once; wrong after 350.
#include <cstdlib>

namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__global__ void Kernel(bool late, const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = late ? x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  static int* const calls = static_cast<int*>(std::calloc(64, sizeof(int)));
  const bool late = ++calls[40] > 350;
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(late, x, out);
}
