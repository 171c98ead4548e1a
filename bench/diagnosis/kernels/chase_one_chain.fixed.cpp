// Twin of chase_one_chain.cpp: follows sixteen chains at a time, whose loads do not wait for each other.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::start_dims[0], kSteps = 64, kTogether = 16;
static_assert(kRows % kTogether == 0);

extern "C" void pragma_kernel(const std::int64_t* following, const float* value,
                              const std::int64_t* start, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; r += kTogether) {
    std::int64_t at[kTogether];
    float total[kTogether] = {};
    for (int j = 0; j < kTogether; ++j) at[j] = start[r + j];
    for (int step = 0; step < kSteps; ++step) {
      for (int j = 0; j < kTogether; ++j) {
        total[j] += value[at[j]];
        at[j] = following[at[j]];
      }
    }
    for (int j = 0; j < kTogether; ++j) out[r + j] = total[j];
  }
}
