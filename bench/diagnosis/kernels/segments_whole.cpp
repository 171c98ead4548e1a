// task: segments
// cause: imbalance
// why: one segment is one unit of work, though the last one has three quarters of all elements: the schedule may be dynamic, the other thread is done early
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kDegree = task::coef_dims[0], kSegments = 12;
constexpr std::int64_t kSizes[kSegments] = {16384, 8192,  32768, 4096,  65536, 16384,
                                            8192,  32768, 49152, 24576, 4096,  786432};

static float Total(const float* x, const float* coef, std::int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(64)
  for (std::int64_t i = 0; i < count; ++i) {
    const float low = x[i] < -1 ? -1.0F : x[i];
    const float t = low > 1 ? 1.0F : low;
    float p = 0;
#pragma GCC unroll 32
    for (int k = kDegree - 1; k >= 0; --k) p = p * t + coef[k];
    sum += p;
  }
  return sum;
}

extern "C" void pragma_kernel(const float* x, const float* coef, float* out, void* /*scratch*/) {
  std::int64_t first[kSegments + 1] = {0};
  for (int s = 0; s < kSegments; ++s) first[s + 1] = first[s] + kSizes[s];
#pragma omp parallel for schedule(dynamic, 1)
  for (int s = 0; s < kSegments; ++s) out[s] = Total(x + first[s], coef, kSizes[s]);
}
