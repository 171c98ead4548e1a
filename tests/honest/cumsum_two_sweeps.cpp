// honest: task=cumsum
// Sums of blocks of 125 first, in a static table, then running sums from their running sums.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];
constexpr int kBlock = 125, kBlocks = kColumns / kBlock;
static_assert(kColumns % kBlock == 0);
static float offsets[kRows][kBlocks];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float before = 0;
    for (int b = 0; b < kBlocks; ++b) {
      offsets[r][b] = before;
      float sum = 0;
      for (int c = 0; c < kBlock; ++c) sum += row[b * kBlock + c];
      before += sum;
    }
    for (int b = 0; b < kBlocks; ++b) {
      float sum = offsets[r][b];
      float* to = out + r * kColumns + b * kBlock;
      for (int c = 0; c < kBlock; ++c) to[c] = sum += row[b * kBlock + c];
    }
  }
}
