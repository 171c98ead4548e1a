// Twin of sort_cursors_packed.cpp: each thread's cursors have lines of their own.
// pragma-flags: -O3 -march=native -fopenmp
#include <omp.h>

#include <cstdint>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kKeys = 8, kMostThreads = 256;

struct alignas(128) Cursors {
  std::int32_t at[kKeys];
};

extern "C" void pragma_kernel(const float* x, const std::int64_t* keys, float* out, void* /*scratch*/) {
  alignas(128) Cursors cursors[kMostThreads];
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const int first = static_cast<int>(std::int64_t{kCount} * thread / threads);
    const int last = static_cast<int>(std::int64_t{kCount} * (thread + 1) / threads);
    std::int32_t* at = cursors[thread].at;
    for (int k = 0; k < kKeys; ++k) at[k] = 0;
    for (int i = first; i < last; ++i) ++at[keys[i]];
#pragma omp barrier
#pragma omp single
    for (int k = 0, before = 0; k < kKeys; ++k)
      for (int t = 0; t < threads; ++t) {
        const int count = cursors[t].at[k];
        cursors[t].at[k] = before;
        before += count;
      }
    for (int i = first; i < last; ++i) out[at[keys[i]]++] = x[i];
  }
}
