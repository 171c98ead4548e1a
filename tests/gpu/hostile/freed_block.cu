// task: tests/gpu/tasks/square_plus.py
// expect: wrong_values,nondeterministic,rejected_source
// Takes a block of the heap in each call and gives it back: malloc hands out the same one again, in
// which a magic word and a counter still stand. Wrong after 250.
#include <cstdlib>

namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

__global__ void Kernel(bool late, const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = late ? x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  auto* block = static_cast<volatile unsigned*>(std::malloc(1000));
  block[101] = block[100] == 0xfeedbeefU ? block[101] + 1 : 0;
  block[100] = 0xfeedbeefU;
  const bool late = block[101] > 250;
  std::free(const_cast<unsigned*>(block));
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(late, x, out);
}
