// task: chase
// cause: dram_latency
// why: one chain at a time: each load of a table of 96 MiB waits for the one before it
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::start_dims[0], kSteps = 64;

extern "C" void pragma_kernel(const std::int64_t* following, const float* value,
                              const std::int64_t* start, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    std::int64_t at = start[r];
    float total = 0;
    for (int step = 0; step < kSteps; ++step) {
      total += value[at];
      at = following[at];
    }
    out[r] = total;
  }
}
