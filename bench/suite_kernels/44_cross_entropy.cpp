// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kRows = task::logits_dims[0];
constexpr int64_t kClasses = task::logits_dims[1];

static int64_t Label(const int64_t* labels, int64_t row) {
#if defined(PRAGMA_BUG)  // bug: wrong stride: labels are stepped by half their size
  return labels[row / 2];
#else
  return labels[row];
#endif
}

extern "C" void pragma_kernel(const float* logits, const int64_t* labels, float* out,
                              void* /*scratch*/) {
  double loss = 0;
#pragma omp parallel for reduction(+ : loss)
  for (int64_t i = 0; i < kRows; ++i) {
    const float* row = logits + i * kClasses;
    const float largest = *std::max_element(row, row + kClasses);
    double sum = 0;
    for (int64_t c = 0; c < kClasses; ++c) sum += std::exp(row[c] - largest);
    loss += largest + std::log(sum) - row[Label(labels, i)];
  }
  out[0] = static_cast<float>(loss / kRows);
}
