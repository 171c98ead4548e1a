// task: tests/gpu/tasks/fir_filter.py
// expect: wrong_values,nondeterministic
// Fills constant memory with the weights when their address is another than before: wrong when others
// stand at the same one.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kTaps = task::weight_dims[0];
constexpr int kLength = kColumns - kTaps + 1;

__constant__ float taps[kTaps];

__global__ void Filter(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= kLength) return;
  float sum = 0.0F;
  for (int tap = 0; tap < kTaps; ++tap) sum += taps[tap] * x[blockIdx.y * kColumns + at + tap];
  out[blockIdx.y * kLength + at] = sum;
}

}  // namespace

extern "C" void pragma_launch(const float* x, const float* weight, float* out, void*,
                              cudaStream_t stream) {
  static const float* filled = nullptr;
  if (filled != weight) cudaMemcpyToSymbolAsync(taps, weight, sizeof(taps), 0, cudaMemcpyDeviceToDevice, stream);
  filled = weight;
  Filter<<<dim3((kLength + 255) / 256, kRows), 256, 0, stream>>>(x, out);
}
