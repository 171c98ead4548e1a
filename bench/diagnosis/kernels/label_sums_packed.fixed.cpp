// Twin of label_sums_packed.cpp: each thread's totals have lines of their own.
// pragma-flags: -O3 -march=native -fopenmp
#include <omp.h>

#include <cstdint>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kWidth = task::x_dims[1], kLabels = 3, kMostThreads = 256;

struct alignas(128) Totals {
  float sum[kLabels][kWidth];
};

extern "C" void pragma_kernel(const float* x, const std::int64_t* labels, float* out,
                              void* /*scratch*/) {
  alignas(128) Totals totals[kMostThreads];
  int threads = 1;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    Totals& mine = totals[omp_get_thread_num()];
    mine = {};
#pragma omp for
    for (int i = 0; i < kCount; ++i) {
      float* sum = mine.sum[labels[i]];
      for (int c = 0; c < kWidth; ++c) sum[c] += x[i * kWidth + c];
    }
  }
  for (int e = 0; e < kLabels * kWidth; ++e) {
    out[e] = 0;
    for (int t = 0; t < threads; ++t) out[e] += totals[t].sum[e / kWidth][e % kWidth];
  }
}
