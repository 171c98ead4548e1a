// Twin of events_int64_differences.cpp: each time is converted once, relative to the first event.
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
  float since[kBatch * kEvents];
  for (int b = 0; b < kBatch; ++b)
    for (int i = 0; i < kEvents; ++i)
      since[b * kEvents + i] = static_cast<float>(times[b * kEvents + i] - times[b * kEvents]);
#pragma omp parallel for collapse(2)
  for (int b = 0; b < kBatch; ++b)
    for (int i = 0; i < kEvents; i += kBlock) {
      const float* time = since + b * kEvents;
      const float* value = values + b * kEvents;
      const float t0 = time[i], t1 = time[i + 1], t2 = time[i + 2], t3 = time[i + 3];
      float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
      for (int j = 0; j < kEvents; ++j) {
        s0 += Near(t0 - time[j]) * value[j];
        s1 += Near(t1 - time[j]) * value[j];
        s2 += Near(t2 - time[j]) * value[j];
        s3 += Near(t3 - time[j]) * value[j];
      }
      float* to = out + b * kEvents + i;
      to[0] = s0;
      to[1] = s1;
      to[2] = s2;
      to[3] = s3;
    }
}
