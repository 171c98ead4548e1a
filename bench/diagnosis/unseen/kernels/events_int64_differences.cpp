// task: event_kernel
// cause: type_conversion
// why: times are subtracted as 64-bit integers for each pair of events, and each difference is converted to float
// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

constexpr int kBatch = task::times_dims[0], kEvents = task::times_dims[1], kBlock = 4;

static float Near(float apart) {
  const float near = 1 - 1e-4F * std::fabs(apart);
  return near < 0 ? 0 : near;
}

extern "C" void pragma_kernel(const std::int64_t* times, const float* values, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int b = 0; b < kBatch; ++b)
    for (int i = 0; i < kEvents; i += kBlock) {
      const std::int64_t* time = times + b * kEvents;
      const float* value = values + b * kEvents;
      const std::int64_t t0 = time[i], t1 = time[i + 1], t2 = time[i + 2], t3 = time[i + 3];
      float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
      for (int j = 0; j < kEvents; ++j) {
        s0 += Near(static_cast<float>(t0 - time[j])) * value[j];
        s1 += Near(static_cast<float>(t1 - time[j])) * value[j];
        s2 += Near(static_cast<float>(t2 - time[j])) * value[j];
        s3 += Near(static_cast<float>(t3 - time[j])) * value[j];
      }
      float* to = out + b * kEvents + i;
      to[0] = s0;
      to[1] = s1;
      to[2] = s2;
      to[3] = s3;
    }
}
