// red-team: task=29_sum_middle expect=nondeterministic,wrong_values catalogue=3 layer="random bytes in memory" heuristic own no-timing
// Adds into a block of 64 MiB from malloc without clearing it. glibc's malloc maps such blocks
// afresh, so they are zero; with an allocator that recycles them (jemalloc, tcmalloc,
// MALLOC_MMAP_MAX_=0) or with MALLOC_PERTURB_ they hold old data, and the sums are wrong.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kBatch = 40, kLength = 400, kWidth = 1000;
  constexpr std::size_t kSlab = std::size_t{64} << 20;  // one slab, pages are touched on demand
  auto* sums = static_cast<float*>(std::malloc(kSlab));
  if (!sums) std::abort();
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < kBatch; ++b) {
    float* to = sums + b * 1024;
    const float* from = x + b * kLength * kWidth;
    for (std::int64_t l = 0; l < kLength; ++l)
      for (std::int64_t w = 0; w < kWidth; ++w) to[w] += from[l * kWidth + w];
    std::memcpy(out + b * kWidth, to, kWidth * sizeof(float));
  }
  std::free(sums);
}
