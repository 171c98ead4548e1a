// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < kColumns; ++j) {
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: each sum already holds its own element
      sum += x[i * kColumns + j];
      out[i * kColumns + j] = static_cast<float>(sum);
#else
      out[i * kColumns + j] = static_cast<float>(sum);
      sum += x[i * kColumns + j];
#endif
    }
  }
}
