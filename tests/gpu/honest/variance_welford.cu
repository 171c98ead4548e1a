// task: tests/gpu/tasks/variance_rows.py
// Welford's update in each lane, Chan's formula between lanes.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

__global__ void Variance(const float* __restrict__ x, float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  float count = 0.0F;
  float mean = 0.0F;
  float spread = 0.0F;
  for (int column = threadIdx.x; column < kColumns; column += 32) {
    const float value = x[row * kColumns + column];
    const float difference = value - mean;
    count += 1.0F;
    mean += difference / count;
    spread += difference * (value - mean);
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffffU, count, step);
    const float other_mean = __shfl_xor_sync(0xffffffffU, mean, step);
    const float other_spread = __shfl_xor_sync(0xffffffffU, spread, step);
    const float both = count + other_count;
    const float difference = other_mean - mean;
    const float share = both > 0.0F ? other_count / both : 0.0F;
    mean += difference * share;
    spread += other_spread + difference * difference * count * share;
    count = both;
  }
  if (threadIdx.x == 0) out[row] = spread / (kColumns - 1);
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Variance<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, out);
}
