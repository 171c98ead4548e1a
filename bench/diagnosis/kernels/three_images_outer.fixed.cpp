// Twin of three_images_outer.cpp: the threads share one loop over images and rows.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kImages = task::x_dims[0], kHeight = task::x_dims[1], kWidth = task::x_dims[2];
constexpr int kBox = 7, kRows = kHeight - kBox + 1, kColumns = kWidth - kBox + 1;

static void Row(const float* __restrict x, float* __restrict out) {
  for (int c = 0; c < kColumns; ++c) {
    float sum = 0;
    for (int i = 0; i < kBox; ++i)
      for (int j = 0; j < kBox; ++j) sum += x[i * kWidth + c + j];
    out[c] = sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int n = 0; n < kImages; ++n)
    for (int r = 0; r < kRows; ++r)
      Row(x + (n * kHeight + r) * kWidth, out + (n * kRows + r) * kColumns);
}
