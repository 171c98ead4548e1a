// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kWidth = task::x_dims[3];
constexpr int64_t kPixels = task::x_dims[2] * kWidth;
constexpr int64_t kElements = task::x_dims[0] * kChannels * kPixels;
#if defined(PRAGMA_BUG)  // bug: wrong stride: the channel is taken to change with every image row
constexpr int64_t kChannelStride = kWidth;
#else
constexpr int64_t kChannelStride = kPixels;
#endif

extern "C" void pragma_kernel(const float* x, const float* prelu_weight, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int64_t i = 0; i < kElements; ++i) {
    const float slope = prelu_weight[(i / kChannelStride) % kChannels];
    out[i] = x[i] > 0 ? x[i] : x[i] * slope;
  }
}
