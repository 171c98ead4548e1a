// Twin of conv_fresh_patches.cpp: the matrix of patches lies in scratch memory
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernel.h"

constexpr std::int64_t kIn = task::x_dims[0], kSize = task::x_dims[1], kOut = task::weight_dims[0];
constexpr std::int64_t kSide = kSize - 2, kPixels = kSide * kSide, kDepth = kIn * 9;
static_assert(kSide % 32 == 0 && kOut == 8);

static void Patches(const float* x, std::int64_t row, float* patches) {
  for (int d = 0; d < kDepth; ++d) {
    const float* from = x + (d / 9 * kSize + row + d % 9 / 3) * kSize + d % 3;
    float* to = patches + d * kPixels + row * kSide;
    for (int c = 0; c < kSide; c += 16) _mm512_storeu_ps(to + c, _mm512_loadu_ps(from + c));
  }
}

// Eight channels of two vectors of pixels.
static void Product(const float* weight, const float* patches, float* out) {
  __m512 sums[kOut][2];
  for (auto& sum : sums) sum[0] = sum[1] = _mm512_setzero_ps();
  for (int d = 0; d < kDepth; ++d) {
    const __m512 p = _mm512_loadu_ps(patches + d * kPixels);
    const __m512 q = _mm512_loadu_ps(patches + d * kPixels + 16);
#pragma GCC unroll 8
    for (int o = 0; o < kOut; ++o) {
      const __m512 factor = _mm512_set1_ps(weight[o * kDepth + d]);
      sums[o][0] = _mm512_fmadd_ps(factor, p, sums[o][0]);
      sums[o][1] = _mm512_fmadd_ps(factor, q, sums[o][1]);
    }
  }
  for (int o = 0; o < kOut; ++o) {
    _mm512_storeu_ps(out + o * kPixels, sums[o][0]);
    _mm512_storeu_ps(out + o * kPixels + 16, sums[o][1]);
  }
}

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kDepth * kPixels;

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* scratch) {
  float* patches = static_cast<float*>(scratch);
#pragma omp parallel
  {
#pragma omp for
    for (int row = 0; row < kSide; ++row) Patches(x, row, patches);
#pragma omp for
    for (int row = 0; row < kSide; ++row)
      for (int c = 0; c < kSide; c += 32)
        Product(weight, patches + row * kSide + c, out + row * kSide + c);
  }
}
