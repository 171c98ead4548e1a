// task: tests/gpu/tasks/square_plus.py
// expect: wrong_values,nondeterministic
// Counts in scratch memory, behind a magic word; wrong after 200.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

constexpr unsigned kMagic = 0x5ca1ab1eU;

// Alone, before the others.
__global__ void Count(unsigned* kept) {
  kept[1] = kept[0] == kMagic ? kept[1] + 1 : 0;
  kept[0] = kMagic;
}

__global__ void Kernel(const unsigned* __restrict__ kept, const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = kept[1] >= 200 ? x[at] : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = 256;

extern "C" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t stream) {
  unsigned* kept = static_cast<unsigned*>(scratch);
  Count<<<1, 1, 0, stream>>>(kept);
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(kept, x, out);
}
