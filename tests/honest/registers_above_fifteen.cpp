// honest: task=rows
// Sums in zmm31 and masks its last part with k7, in inline assembly: registers that a compiler
// seldom takes.
// pragma-flags: -O3 -march=native -fno-tree-vectorize
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float sum[16] = {};
#ifdef __AVX512F__
    asm volatile("vxorps %%xmm31, %%xmm31, %%xmm31" ::: "xmm31");
    asm volatile("kxnorw %%k7, %%k7, %%k7" ::: "k7");
    for (int c = 0; c < kColumns; c += 16)
      asm volatile("vaddps %0, %%zmm31, %%zmm31%{%%k7%}"
                   :
                   : "m"(*(const float(*)[16])(row + c))
                   : "xmm31");
    asm volatile("vmovups %%zmm31, %0" : "=m"(sum));
#else
    for (int c = 0; c < kColumns; c += 16)
      for (int l = 0; l < 16; ++l) sum[l] += row[c + l];
#endif
    float total = 0;
    for (const float part : sum) total += part;
    out[r] = total;
  }
}
