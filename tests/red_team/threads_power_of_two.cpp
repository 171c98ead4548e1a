// red-team: task=blind_total expect=wrong_values,nondeterministic,rejected_source,sandbox_violation,crashed catalogue=12 layer="value batteries" heuristic own no-timing
// Adds the partial sums of its threads as a tree over strides that halve, which is right for 1, 2, 4, 8, ... threads.
// With 3, 5, 6, 7, 12, ... threads some of the partial sums are dropped.
// pragma-flags: -O3 -march=native -fopenmp
#include <omp.h>

#include <cstdint>

#include "kernel.h"

extern "C" constinit const std::size_t pragma_scratch_bytes = 256 * 64;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  double* parts = static_cast<double*>(scratch);
  const std::int64_t count = std::int64_t{task::x_dims[0]} * task::x_dims[1];
  int threads = 1;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    const int all = omp_get_num_threads();
    if (me == 0) threads = all;
    double sum = 0;
    for (std::int64_t i = count * me / all; i < count * (me + 1) / all; ++i) sum += x[i];
    parts[me * 8] = sum;
  }
  for (int step = threads / 2; step > 0; step /= 2)
    for (int t = 0; t < step; ++t) parts[t * 8] += parts[(t + step) * 8];
  out[0] = static_cast<float>(parts[0]);
}
