// honest: task=long_rows
// pragma-compiler: clang++
// LLVM's OpenMP, whose runtime looks for processors when the first region starts; dynamic schedule.
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kParts = 64;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
    for (int part = 0; part < kParts; ++part) {
      const int begin = kColumns / kParts * part;
      const int end = part + 1 == kParts ? kColumns : begin + kColumns / kParts;
      double mine = 0;
#pragma omp simd reduction(+ : mine)
      for (int c = begin; c < end; ++c) mine += row[c];
      sum += mine;
    }
    out[r] = static_cast<float>(sum);
  }
}
