// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::a_dims[0];
constexpr int64_t kDepth = task::a_dims[1];
constexpr int64_t kColumns = task::b_dims[0];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: each dot product lacks its last term
constexpr int64_t kTerms = kDepth - 1;
#else
constexpr int64_t kTerms = kDepth;
#endif

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < kTerms; ++k) sum += a[i * kDepth + k] * b[j * kDepth + k];
      out[i * kColumns + j] = sum;
    }
  }
}
