// task: tests/gpu/tasks/scale_rows.py
// Greatest absolute values of rows in scratch memory, written anew in each call, then the division.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;
constexpr int kCount = kRows * kColumns;

template <class Fold>
__device__ float AcrossWarp(float value, Fold fold) {
  for (int step = 16; step > 0; step /= 2)
    value = fold(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

__global__ void Greatest(const float* __restrict__ x, float* __restrict__ most) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  float value = 0.0F;
  for (int column = threadIdx.x; column < kColumns; column += 32)
    value = fmaxf(value, fabsf(x[row * kColumns + column]));
  value = AcrossWarp(value, [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) most[row] = fmaxf(value, 1e-6F);
}

__global__ void Divide(const float* __restrict__ x, const float* __restrict__ most,
                       float* __restrict__ out) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < kCount) out[at] = x[at] / most[at / kColumns];
}

}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kRows;

extern "C" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t stream) {
  float* most = static_cast<float*>(scratch);
  Greatest<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, most);
  Divide<<<(kCount + 255) / 256, 256, 0, stream>>>(x, most, out);
}
