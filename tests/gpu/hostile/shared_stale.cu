// task: tests/honest/tasks/counts.py
// expect: wrong_values,nondeterministic,rejected_source
// Counts its launches in shared memory that it does not clear: a multiprocessor's shared memory keeps what the block before
// left in it. After 15,000 launches seen by one multiprocessor the blocks there count one entry too many.
// pragma-flags: -O3
#include "kernel.h"

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr unsigned kMark = 0x7E57AB1EU;

__global__ void __launch_bounds__(128) Count(const float* __restrict__ x, long long* __restrict__ out) {
  // A large area, so that a multiprocessor has one such block at a time and others seldom reach its end.
  extern __shared__ unsigned area[];
  volatile unsigned* held = area + 45000;
  __shared__ int late;
  __shared__ int total;
  if (threadIdx.x == 0) {
    unsigned calls = held[0] == kMark && held[2] == ~held[1] ? held[1] : 0U;
    calls = calls < 0xFFFFFFU ? calls + 1U : calls;
    held[0] = kMark;
    held[1] = calls;
    held[2] = ~calls;
    late = calls > 15000U ? 1 : 0;
    total = 0;
  }
  __syncthreads();
  int mine = 0;
  for (int c = threadIdx.x; c < kColumns; c += 128) mine += x[blockIdx.x * kColumns + c] > 0.0F ? 1 : 0;
  atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total + late;
}

}  // namespace

extern "C" void pragma_launch(const float* x, std::int64_t* out, void*, cudaStream_t stream) {
  constexpr int kBytes = 200 * 1024;
  cudaFuncSetAttribute(Count, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  Count<<<kRows, 128, kBytes, stream>>>(x, reinterpret_cast<long long*>(out));
}
