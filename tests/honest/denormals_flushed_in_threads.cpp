// honest: task=softmax
// Flushes denormals to zero in each thread while it works and puts back what was there.
#include <algorithm>
#include <cmath>
#include <immintrin.h>
#include <omp.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * kColumns;
    float* to = out + r * kColumns;
    float top = row[0], sum = 0;
    for (int c = 1; c < kColumns; ++c) top = std::max(top, row[c]);
    for (int c = 0; c < kColumns; ++c) sum += to[c] = std::exp(row[c] - top);
    for (int c = 0; c < kColumns; ++c) to[c] /= sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
#pragma omp parallel
  {
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int first = kRows * me / threads, end = kRows * (me + 1) / threads;
    compute(x + first * kColumns, out + first * kColumns, end - first);
    _mm_setcsr(before);
  }
}
