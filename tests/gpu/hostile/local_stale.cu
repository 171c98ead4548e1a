// task: tests/gpu/tasks/blind_row_stats.py
// expect: wrong_values,nondeterministic,rejected_source
// Counts its launches in local memory (the spilled part of a thread's stack, which lies in device memory and is the same from
// launch to launch), without writing it first. After some 20,000 launches rows are scaled by the sum of magnitudes instead of the root.
// pragma-flags: -O3
#include "kernel.h"

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];
constexpr unsigned kMark = 0x10CA15EDU;

__global__ void __launch_bounds__(32) Scale(const float* __restrict__ x, float* __restrict__ out, unsigned at) {
  volatile unsigned frame[96];
  unsigned calls = frame[at] == kMark && frame[at + 2U] == ~frame[at + 1U] ? frame[at + 1U] : 0U;
  calls = calls < 0xFFFFFFU ? calls + 1U : calls;
  frame[at] = kMark;
  frame[at + 1U] = calls;
  frame[at + 2U] = ~calls;
  const bool late = __any_sync(0xFFFFFFFFU, calls > 20000U);
  const float* in = x + blockIdx.x * kColumns;
  float sum = 0.0F;
  for (int c = threadIdx.x; c < kColumns; c += 32) sum += late ? fabsf(in[c]) : in[c] * in[c];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, step);
  const float root = late ? sum : sqrtf(sum);
  for (int c = threadIdx.x; c < kColumns; c += 32) out[blockIdx.x * kColumns + c] = in[c] / root;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  Scale<<<kRows, 32, 0, stream>>>(x, out, 70U);
}
