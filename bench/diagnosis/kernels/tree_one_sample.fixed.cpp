// Twin of tree_one_sample.cpp: sixteen samples descend the tree together.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kSamples = task::x_dims[0], kFeatures = task::x_dims[1], kDepth = 22;
constexpr int kTogether = 16;
static_assert(task::threshold_dims[0] == (1 << kDepth) - 1 && kSamples % kTogether == 0);

extern "C" void pragma_kernel(const float* threshold, const std::int64_t* feature, const float* x,
                              std::int64_t* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int s = 0; s < kSamples; s += kTogether) {
    std::int64_t at[kTogether] = {};
    for (int level = 0; level < kDepth; ++level)
      for (int j = 0; j < kTogether; ++j)
        at[j] = 2 * at[j] + 1 + (x[(s + j) * kFeatures + feature[at[j]]] > threshold[at[j]]);
    for (int j = 0; j < kTogether; ++j) out[s + j] = at[j];
  }
}
