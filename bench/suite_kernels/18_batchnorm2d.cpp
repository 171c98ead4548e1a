// pragma-flags: -O3 -march=native -fopenmp
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kPixels = task::x_dims[2] * task::x_dims[3];
#if defined(PRAGMA_BUG)  // bug: wrong stride: statistics step by planes, not by images
constexpr int64_t kImageStride = kPixels;
#else
constexpr int64_t kImageStride = kChannels * kPixels;
#endif

// The running statistics are buffers of the module; their update is no output.
extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              const float* /*norm_running_mean*/, const float* /*norm_running_var*/,
                              const int64_t* /*norm_num_batches_tracked*/, float* out,
                              void* /*scratch*/) {
  constexpr double kCount = static_cast<double>(kBatch * kPixels);
#pragma omp parallel for
  for (int64_t c = 0; c < kChannels; ++c) {
    double sum = 0;
    double squares = 0;
    for (int64_t n = 0; n < kBatch; ++n) {
      const float* plane = x + n * kImageStride + c * kPixels;
      for (int64_t p = 0; p < kPixels; ++p) {
        sum += plane[p];
        squares += static_cast<double>(plane[p]) * plane[p];
      }
    }
    const double mean = sum / kCount;
    const double scale = norm_weight[c] / std::sqrt(squares / kCount - mean * mean + 1e-5);
    for (int64_t n = 0; n < kBatch; ++n) {
      const int64_t start = (n * kChannels + c) * kPixels;
      for (int64_t p = start; p < start + kPixels; ++p) {
        out[p] = static_cast<float>((x[p] - mean) * scale + norm_bias[c]);
      }
    }
  }
}
