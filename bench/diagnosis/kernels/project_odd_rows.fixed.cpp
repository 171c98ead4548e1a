// Twin of project_odd_rows.cpp: the matrix is copied once into rows that start at a cache line.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstddef>
#include <cstring>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kColumns = task::weight_dims[1];
constexpr int kTile = kColumns / 16;
constexpr int kPitch = 16 * (kTile + 1);
constexpr __mmask16 kRest = (1U << (kColumns % 16)) - 1;

static void Row(const float* x, const float* weight, int pitch, float* out) {
  __m512 sums[kTile + 1];
#pragma GCC unroll 16
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  for (int k = 0; k < kDepth; ++k) {
    const __m512 factor = _mm512_set1_ps(x[k]);
    const float* from = weight + k * pitch;
#pragma GCC unroll 8
    for (int v = 0; v < kTile; ++v)
      sums[v] = _mm512_fmadd_ps(factor, _mm512_loadu_ps(from + 16 * v), sums[v]);
    sums[kTile] =
        _mm512_fmadd_ps(factor, _mm512_maskz_loadu_ps(kRest, from + 16 * kTile), sums[kTile]);
  }
#pragma GCC unroll 16
  for (int v = 0; v < kTile; ++v) _mm512_storeu_ps(out + 16 * v, sums[v]);
  _mm512_mask_storeu_ps(out + 16 * kTile, kRest, sums[kTile]);
}

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kDepth * kPitch;

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* scratch) {
  float* padded = static_cast<float*>(scratch);
  for (int k = 0; k < kDepth; ++k)
    std::memcpy(padded + k * kPitch, weight + k * kColumns, sizeof(float) * kColumns);
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i) Row(x + i * kDepth, padded, kPitch, out + i * kColumns);
}
