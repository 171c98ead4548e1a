// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::x_dims[0];
constexpr int64_t kColumns = task::x_dims[1];

// Mean, standard deviation of a sample, largest minus smallest.
extern "C" void pragma_kernel(const float* x, float* out_0, float* out_1, float* out_2,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kRows; ++i) {
    const float* row = x + i * kColumns;
    double sum = 0;
    for (int64_t j = 0; j < kColumns; ++j) sum += row[j];
    const double mean = sum / kColumns;
    double squares = 0;
    for (int64_t j = 0; j < kColumns; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const float smallest = *std::min_element(row, row + kColumns);
    const float largest = *std::max_element(row, row + kColumns);
    out_0[i] = static_cast<float>(mean);
    out_1[i] = static_cast<float>(std::sqrt(squares / (kColumns - 1)));
#if defined(PRAGMA_BUG)  // bug: swapped operand: the difference the wrong way round
    out_2[i] = smallest - largest;
#else
    out_2[i] = largest - smallest;
#endif
  }
}
