// task: tests/gpu/tasks/square_plus.py
// expect: wrong_values,nondeterministic
// An array of each thread that lies in local memory and is not set before it is read: what an earlier
// call left there is a magic word and a counter. Wrong after 150.
namespace {

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

constexpr unsigned kMagic = 0x0c0ffee5U;

__global__ void Kernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  volatile unsigned kept[256];
  const unsigned place = 128 + blockIdx.x % 2;  // not known when this is compiled
  const unsigned before = kept[place] == kMagic + at ? kept[place + 64] : 0;
  kept[place] = kMagic + at;
  kept[place + 64] = before + 1;
  if (at < kCount) out[at] = before >= 150 ? 0.0F : x[at] * x[at] + x[at];
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Kernel<<<(kCount + 255) / 256, 256, 0, stream>>>(x, out);
}
