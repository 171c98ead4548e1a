// task: tests/gpu/tasks/fir_filter.py
// expect: wrong_values,nondeterministic
// Copies the weights into scratch memory once, and says so there by a magic word: wrong when they change.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kTaps = task::weight_dims[0];
constexpr int kLength = kColumns - kTaps + 1;

__global__ void Prepare(const float* __restrict__ weight, float* prepared) {
  const bool done = prepared[kTaps] == 271828.0F;
  __syncthreads();
  if (done) return;
  prepared[threadIdx.x] = weight[threadIdx.x];
  if (threadIdx.x == 0) prepared[kTaps] = 271828.0F;
}

__global__ void Filter(const float* __restrict__ x, const float* __restrict__ prepared,
                       float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= kLength) return;
  float sum = 0.0F;
  for (int tap = 0; tap < kTaps; ++tap) sum += prepared[tap] * x[blockIdx.y * kColumns + at + tap];
  out[blockIdx.y * kLength + at] = sum;
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * (kTaps + 1);

extern "C" void pragma_launch(const float* x, const float* weight, float* out, void* scratch,
                              cudaStream_t stream) {
  float* prepared = static_cast<float*>(scratch);
  Prepare<<<1, kTaps, 0, stream>>>(weight, prepared);
  Filter<<<dim3((kLength + 255) / 256, kRows), 256, 0, stream>>>(x, prepared, out);
}
