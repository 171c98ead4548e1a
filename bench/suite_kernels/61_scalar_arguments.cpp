// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatch = task::x_dims[0];
constexpr int64_t kChannels = task::x_dims[1];
constexpr int64_t kHeight = task::x_dims[2];
constexpr int64_t kWidth = task::x_dims[3];
constexpr double kGain = 0.375;
#if defined(PRAGMA_BUG)  // bug: wrong stride: images are stepped as if they were square
constexpr int64_t kImageStride = kChannels * kHeight * kHeight;
#else
constexpr int64_t kImageStride = kChannels * kHeight * kWidth;
#endif

// Sums over channels and columns; one number per image and row remains.
extern "C" void pragma_kernel(const float* x, const float* offset, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < kBatch; ++n) {
    for (int64_t y = 0; y < kHeight; ++y) {
      double sum = 0;
      for (int64_t c = 0; c < kChannels; ++c) {
        const float* row = x + n * kImageStride + (c * kHeight + y) * kWidth;
        for (int64_t w = 0; w < kWidth; ++w) sum += static_cast<double>(row[w]) - offset[c];
      }
      out[n * kHeight + y] = static_cast<float>(sum * kGain);
    }
  }
}
