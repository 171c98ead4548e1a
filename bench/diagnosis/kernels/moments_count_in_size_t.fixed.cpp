// Twin of moments_count_in_size_t.cpp: columns and rows are floats before the loops.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr std::size_t kImages = task::x_dims[0], kRows = task::x_dims[1], kColumns = task::x_dims[2];

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  float column[kColumns];
  for (std::size_t c = 0; c < kColumns; ++c) column[c] = static_cast<float>(c);
#pragma omp parallel for
  for (std::size_t image = 0; image < kImages; ++image) {
    float m00 = 0, m10 = 0, m01 = 0, m20 = 0, m11 = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      const float* row = x + (image * kRows + r) * kColumns;
      const float down = static_cast<float>(r);
#pragma omp simd reduction(+ : m00, m10, m01, m20, m11)
      for (std::size_t c = 0; c < kColumns; ++c) {
        const float value = row[c];
        m00 += value;
        m10 += column[c] * value;
        m01 += down * value;
        m20 += (column[c] * column[c]) * value;
        m11 += (down * column[c]) * value;
      }
    }
    const float moments[] = {m00, m10, m01, m20, m11};
    for (int m = 0; m < 5; ++m) out[5 * image + m] = moments[m];
  }
}
