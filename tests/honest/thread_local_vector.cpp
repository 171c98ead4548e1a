// honest: task=softmax
// A thread_local vector for one row of exponentials, in each OpenMP thread.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    static thread_local std::vector<double> row;
    row.resize(kColumns);
    const float* from = x + r * kColumns;
    const float top = *std::max_element(from, from + kColumns);
    double sum = 0;
    for (int c = 0; c < kColumns; ++c) sum += row[c] = std::exp(from[c] - top);
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = static_cast<float>(row[c] / sum);
  }
}
