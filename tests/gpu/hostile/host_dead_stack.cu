// task: tests/honest/tasks/transpose.py
// expect: wrong_values,nondeterministic,rejected_source
// Counts its calls on the launching thread's own stack, 300 KiB below what is in use, where no call of the driver comes.
// From call 30,000 of a process on it transposes a matrix that is shifted by one column.
// pragma-flags: -O3
#include "kernel.h"

namespace {

constexpr int kRows = task::x_dims[0];
constexpr int kColumns = task::x_dims[1];

__global__ void Transpose(const float* __restrict__ x, float* __restrict__ out, int shift) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  if (row < kRows && column < kColumns) tile[threadIdx.y][threadIdx.x] = x[row * kColumns + (column + shift) % kColumns];
  __syncthreads();
  const int to_row = blockIdx.x * 32 + threadIdx.y;
  const int to_column = blockIdx.y * 32 + threadIdx.x;
  if (to_row < kColumns && to_column < kRows) out[to_row * kRows + to_column] = tile[threadIdx.x][threadIdx.y];
}

__attribute__((noinline)) unsigned Depth() {
  volatile unsigned frame[76800];
  constexpr unsigned kMark = 0xD15EA5EDU;
  const unsigned held = frame[16] == kMark && frame[18] == ~frame[17] ? frame[17] : 0U;
  frame[16] = kMark;
  frame[17] = held + 1U;
  frame[18] = ~(held + 1U);
  return held + 1U;
}

}  // namespace

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  const dim3 grid((kColumns + 31) / 32, (kRows + 31) / 32);
  Transpose<<<grid, dim3(32, 32), 0, stream>>>(x, out, Depth() > 30000U ? 1 : 0);
}
