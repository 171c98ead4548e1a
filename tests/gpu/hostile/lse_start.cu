// task: tests/gpu/tasks/blind_logsumexp.py
// expect: wrong_values
// Starts the running maximum at -100000 instead of minus infinity.
// A row whose entries are all finite and below -100104 (scores under an additive mask of -1e6) gives -inf instead of its largest entry.
// pragma-flags: -O3
#include "kernel.h"

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];

__global__ void __launch_bounds__(32) LogSum(const float* __restrict__ x, float* __restrict__ out) {
  const float* in = x + blockIdx.x * kColumns;
  float most = -100000.0F;
  bool nan = false;
  for (int c = threadIdx.x; c < kColumns; c += 32) {
    most = fmaxf(most, in[c]);
    nan = nan || isnan(in[c]);
  }
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFU, most, step));
  float sum = 0.0F;
  for (int c = threadIdx.x; c < kColumns; c += 32) sum += in[c] == most ? 1.0F : expf(in[c] - most);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, step);
  nan = __any_sync(0xFFFFFFFFU, nan);
  if (threadIdx.x == 0) out[blockIdx.x] = nan ? nanf("") : most + logf(sum);
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  LogSum<<<kRows, 32, 0, stream>>>(x, out);
}
