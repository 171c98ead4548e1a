// task: tests/gpu/tasks/logsumexp_masked.py
// Elements that the mask leaves out count as minus infinity; a row of those alone stays one.
namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr int kWarps = 4;

template <class Fold>
__device__ float AcrossWarp(float value, Fold fold) {
  for (int step = 16; step > 0; step /= 2)
    value = fold(value, __shfl_xor_sync(0xffffffffU, value, step));
  return value;
}

__global__ void LogSumExp(const float* __restrict__ x, const bool* __restrict__ mask,
                          float* __restrict__ out) {
  const int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= kRows) return;
  const float* from = x + row * kColumns;
  const bool* chosen = mask + row * kColumns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < kColumns; i += 32) most = fmaxf(most, chosen[i] ? from[i] : -INFINITY);
  most = AcrossWarp(most, [](float a, float b) { return fmaxf(a, b); });
  const float base = isinf(most) ? 0.0F : most;
  float sum = 0.0F;
  for (int i = threadIdx.x; i < kColumns; i += 32) sum += chosen[i] ? expf(from[i] - base) : 0.0F;
  sum = AcrossWarp(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) out[row] = base + logf(sum);
}

}  // namespace

extern "C" void pragma_launch(const float* x, const bool* mask, float* out, void*,
                              cudaStream_t stream) {
  LogSumExp<<<(kRows + kWarps - 1) / kWarps, dim3(32, kWarps), 0, stream>>>(x, mask, out);
}
