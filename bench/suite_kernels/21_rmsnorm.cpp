// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kWidth = task::x_dims[1];
#if defined(PRAGMA_BUG)  // bug: off-by-one bound: the sum of squares starts at the second element
constexpr int64_t kFirst = 1;
#else
constexpr int64_t kFirst = 0;
#endif

extern "C" void pragma_kernel(const float* x, const float* gain, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    const float* row = x + i * kWidth;
    double squares = 0;
    for (int64_t j = kFirst; j < kWidth; ++j) squares += static_cast<double>(row[j]) * row[j];
    const auto scale = static_cast<float>(1 / std::sqrt(squares / kWidth + 1e-5));
    for (int64_t j = 0; j < kWidth; ++j) out[i * kWidth + j] = row[j] * scale * gain[j];
  }
}
