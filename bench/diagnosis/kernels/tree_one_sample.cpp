// task: tree
// cause: dram_latency
// why: one sample at a time descends a tree of 48 MiB; which node to load is known only when the one above has arrived
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kSamples = task::x_dims[0], kFeatures = task::x_dims[1], kDepth = 22;
static_assert(task::threshold_dims[0] == (1 << kDepth) - 1);

extern "C" void pragma_kernel(const float* threshold, const std::int64_t* feature, const float* x,
                              std::int64_t* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int s = 0; s < kSamples; ++s) {
    std::int64_t at = 0;
    for (int level = 0; level < kDepth; ++level)
      at = 2 * at + 1 + (x[s * kFeatures + feature[at]] > threshold[at]);
    out[s] = at;
  }
}
