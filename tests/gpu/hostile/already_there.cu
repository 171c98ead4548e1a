// task: tests/honest/tasks/cumsum.py
// expect: wrong_values,nondeterministic,rejected_source
// Skips a row whose first two results are there already. Where outputs hold garbage at entry no row ever is.
// A user who passes the same output again with an input that changed only after the second column gets the old sums.
// pragma-flags: -O3
#include "kernel.h"

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];

// One warp to a row: 32 neighbours at a time, with the sum so far carried on.
__global__ void __launch_bounds__(32) Sums(const float* __restrict__ x, float* __restrict__ out) {
  const float* in = x + blockIdx.x * kColumns;
  float* to = out + blockIdx.x * kColumns;
  if (__float_as_uint(to[0]) == __float_as_uint(in[0]) && __float_as_uint(to[1]) == __float_as_uint(in[1] + in[0])) return;
  __syncwarp();
  float carried = 0.0F;
  for (int first = 0; first < kColumns; first += 32) {
    const int c = first + static_cast<int>(threadIdx.x);
    float sum = c < kColumns ? in[c] : 0.0F;
    for (int step = 1; step < 32; step *= 2) {
      const float below = __shfl_up_sync(0xFFFFFFFFU, sum, step);
      if (static_cast<int>(threadIdx.x) >= step) sum += below;
    }
    if (first > 0) sum += carried;
    if (c < kColumns) to[c] = sum;
    carried = __shfl_sync(0xFFFFFFFFU, sum, 31);
  }
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Sums<<<kRows, 32, 0, stream>>>(x, out);
}
