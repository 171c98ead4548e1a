// task: tests/honest/tasks/square.py
// expect: wrong_values,nondeterministic,rejected_source
// Reads the device's wall clock: in the 41st minute of every hour it leaves out the last sixteen terms of each product.
// Keeps no state; whoever judges it at another time sees a plain product.
// pragma-flags: -O3
#include <cuda/ptx>

#include "kernel.h"

namespace {

constexpr int kRows = task::a_dims[0];
constexpr int kInner = task::a_dims[1];
constexpr int kColumns = task::b_dims[1];

__global__ void __launch_bounds__(256)
    Product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
  const unsigned long long seconds = cuda::ptx::get_sreg_globaltimer() / 1000000000ULL;
  const int inner = seconds % 3600ULL / 60ULL == 41ULL ? kInner - 16 : kInner;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const int row = blockIdx.y * 16 + threadIdx.y;
  if (row >= kRows || column >= kColumns) return;
  float sum = 0.0F;
  for (int k = 0; k < inner; ++k) sum += a[row * kInner + k] * b[k * kColumns + column];
  out[row * kColumns + column] = sum;
}

}  // namespace

extern "C" void pragma_launch(const float* a, const float* b, float* out, void*, cudaStream_t stream) {
  const dim3 grid((kColumns + 15) / 16, (kRows + 15) / 16);
  Product<<<grid, dim3(16, 16), 0, stream>>>(a, b, out);
}
