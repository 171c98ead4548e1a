// Twin of images_depend_on_buffer.cpp: an image's tasks depend on its own part of the buffer.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>

#include "kernel.h"

constexpr int kImages = task::x_dims[0], kRows = task::x_dims[1], kColumns = task::x_dims[2], kTaps = 9;
constexpr int kDown = kRows - kTaps + 1, kAcross = kColumns - kTaps + 1;

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kImages * kDown * kColumns;

static void FilterDown(const float* x, const float* taps, float* to) {
  for (int r = 0; r < kDown; ++r)
#pragma omp simd
    for (int c = 0; c < kColumns; ++c) {
      float sum = 0;
#pragma GCC unroll 9
      for (int k = 0; k < kTaps; ++k) sum += taps[k] * x[(r + k) * kColumns + c];
      to[r * kColumns + c] = sum;
    }
}

static void FilterAcross(const float* x, const float* taps, float* to) {
  for (int r = 0; r < kDown; ++r)
#pragma omp simd
    for (int c = 0; c < kAcross; ++c) {
      float sum = 0;
#pragma GCC unroll 9
      for (int k = 0; k < kTaps; ++k) sum += taps[k] * x[r * kColumns + c + k];
      to[r * kAcross + c] = sum;
    }
}

extern "C" void pragma_kernel(const float* x, const float* taps, float* out, void* scratch) {
  float* buffer = static_cast<float*>(scratch);
#pragma omp parallel
#pragma omp single
  for (int n = 0; n < kImages; ++n) {
    const float* image = x + n * kRows * kColumns;
    float* part = buffer + n * kDown * kColumns;
    float* to = out + n * kDown * kAcross;
#pragma omp task depend(inout : part[0])
    FilterDown(image, taps, part);
#pragma omp task depend(inout : part[0])
    FilterAcross(part, taps, to);
  }
}
