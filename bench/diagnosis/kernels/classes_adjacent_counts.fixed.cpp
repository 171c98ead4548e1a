// Twin of classes_adjacent_counts.cpp: each thread has 128 bytes.
// pragma-flags: -O3 -march=native -fopenmp
#include <omp.h>

#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr int kCount = task::x_dims[0], kClasses = 8, kMostThreads = 256;
constexpr int kPitch = 32;  // distance in counts from one thread's table to the next

extern "C" constinit const std::size_t pragma_scratch_bytes =
    sizeof(std::int32_t) * kMostThreads * kPitch;

extern "C" void pragma_kernel(const std::int32_t* x, std::int64_t* out, void* scratch) {
  std::int32_t* counts = static_cast<std::int32_t*>(scratch);
  for (int i = 0; i < kMostThreads * kPitch; ++i) counts[i] = 0;
#pragma omp parallel
  {
    std::int32_t* mine = counts + omp_get_thread_num() * kPitch;
#pragma omp for
    for (int i = 0; i < kCount; ++i) ++mine[x[i] & (kClasses - 1)];
  }
  for (int k = 0; k < kClasses; ++k) {
    out[k] = 0;
    for (int t = 0; t < kMostThreads; ++t) out[k] += counts[t * kPitch + k];
  }
}
