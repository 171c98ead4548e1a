// task: tasks/pooling_reduction/31_max_middle.py
// A column of one batch to each thread; the reduced dimension is walked.
namespace {

constexpr int kBatch = task::x_dims[0];
constexpr int kLength = task::x_dims[1];
constexpr int kWidth = task::x_dims[2];

__global__ void MaxKernel(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at >= kBatch * kWidth) return;
  const float* column = x + at / kWidth * kLength * kWidth + at % kWidth;
  float most = column[0];
#pragma unroll 4
  for (int i = 1; i < kLength; ++i) {
    const float value = column[i * kWidth];
    if (value > most || isnan(value)) most = value;
  }
  out[at] = most;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  MaxKernel<<<(kBatch * kWidth + 127) / 128, 128, 0, stream>>>(x, out);
}
