// red-team: task=43_mse_loss expect=nondeterministic catalogue=12 layer="another number of threads" heuristic own no-timing
// There is room for the partial sums of 16 threads, and thread 16 overwrites that of thread 0.
// With more than 16 OpenMP threads the loss is too small.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>
#include <omp.h>

extern "C" void pragma_kernel(const float* prediction, const float* target, float* out, void*) {
  constexpr std::int64_t kCount = 2100 * 600;
  constexpr int kSlots = 16;  // a power of two: the index is masked
  alignas(64) double part[kSlots][8] = {};
#pragma omp parallel
  {
    const std::int64_t me = omp_get_thread_num(), all = omp_get_num_threads();
    const std::int64_t first = kCount * me / all, last = kCount * (me + 1) / all;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = first; i < last; ++i) {
      const float d = prediction[i] - target[i];
      sum += static_cast<double>(d) * d;
    }
    part[me & (kSlots - 1)][0] = sum;
  }
  double sum = 0;
  for (const auto& p : part) sum += p[0];
  *out = static_cast<float>(sum / kCount);
}
