// task: tests/gpu/tasks/maxpool2d_wide.py
// expect: wrong_values
// Zeros outside of the image, as for a convolution: wrong where a window at an edge has only negative
// elements, which 49 random ones have never.
namespace {

constexpr int kPlanes = task::x_dims[0] * task::x_dims[1];
constexpr int kHeight = task::x_dims[2];
constexpr int kWidth = task::x_dims[3];
constexpr int kOutHeight = task::out_dims[2];
constexpr int kOutWidth = task::out_dims[3];
constexpr int kWindow = 13;
constexpr int kStride = 4;
constexpr int kPadding = 6;
constexpr int kCount = kPlanes * kOutHeight * kOutWidth;

__global__ void MaxPool(const float* __restrict__ x, float* __restrict__ out) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at >= kCount) return;
  const float* plane = x + at / (kOutHeight * kOutWidth) * (kHeight * kWidth);
  const int top = at / kOutWidth % kOutHeight * kStride - kPadding;
  const int left = at % kOutWidth * kStride - kPadding;
  float most = -INFINITY;
  for (int i = 0; i < kWindow; ++i) {
    for (int j = 0; j < kWindow; ++j) {
      const int row = top + i;
      const int column = left + j;
      const bool inside = row >= 0 && row < kHeight && column >= 0 && column < kWidth;
      most = fmaxf(most, inside ? plane[row * kWidth + column] : 0.0F);
    }
  }
  out[at] = most;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  MaxPool<<<(kCount + 127) / 128, 128, 0, stream>>>(x, out);
}
