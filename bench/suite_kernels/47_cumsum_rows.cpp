// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kColumns = task::x_dims[1];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the last column is never written
constexpr int64_t kEnd = kColumns - 1;
#else
constexpr int64_t kEnd = kColumns;
#endif

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < kEnd; ++j) {
      sum += x[i * kColumns + j];
      out[i * kColumns + j] = static_cast<float>(sum);
    }
  }
}
