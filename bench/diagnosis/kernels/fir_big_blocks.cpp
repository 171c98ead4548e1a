// task: fir_rows
// cause: imbalance
// why: blocks of 512 rows make two blocks of the 640: one thread gets 512 rows, the other one 128
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kTaps = task::w_dims[0];
constexpr int kResults = kColumns - kTaps + 1;
constexpr int kBlock = 512;  // rows that a thread takes at a time

extern "C" void pragma_kernel(const float* x, const float* w, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int block = 0; block < kRows; block += kBlock) {
    for (int r = block; r < std::min(block + kBlock, kRows); ++r) {
      const float* from = x + r * kColumns;
      float* to = out + r * kResults;
#pragma omp simd
      for (int i = 0; i < kResults; ++i) {
        float sum = 0;
#pragma GCC unroll 32
        for (int k = 0; k < kTaps; ++k) sum += w[k] * from[i + k];
        to[i] = sum;
      }
    }
  }
}
