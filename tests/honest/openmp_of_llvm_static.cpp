// honest: task=square
// pragma-compiler: clang++
// LLVM's OpenMP with a static schedule and two regions: threads started before the filters work on in the second.
#include "kernel.h"

constexpr int kSize = task::a_dims[0];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int i = 0; i < kSize * kSize; ++i) out[i] = 0;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < kSize; ++i) {
    for (int k = 0; k < kSize; ++k) {
      for (int j = 0; j < kSize; ++j) out[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
    }
  }
}
