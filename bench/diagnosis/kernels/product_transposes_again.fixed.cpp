// Twin of product_transposes_again.cpp: the matrix is transposed once, into the scratch memory.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include <cstddef>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kDepth = task::x_dims[1], kOut = task::weight_dims[0];
static_assert(kDepth % 16 == 0 && kOut % 16 == 0);

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kDepth * kOut;

// rows[k] becomes the k-th column of sixteen rows of `from`.
static void Transpose(const float* from, int pitch, __m512* rows) {
  __m512 t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) rows[i] = _mm512_loadu_ps(from + i * pitch);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    rows[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
    rows[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
    rows[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    rows[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_f32x4(rows[i], rows[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_f32x4(rows[i], rows[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], 0xdd);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    rows[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
    rows[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
  }
}

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* scratch) {
  float* panels = static_cast<float*>(scratch);  // each panel holds sixteen columns of the transposed matrix
  for (int o = 0; o < kOut; o += 16) {
    for (int k = 0; k < kDepth; k += 16) {
      __m512 columns[16];
      Transpose(weight + o * kDepth + k, kDepth, columns);
      for (int j = 0; j < 16; ++j) _mm512_store_ps(panels + o * kDepth + (k + j) * 16, columns[j]);
    }
  }
#pragma omp parallel for
  for (int i = 0; i < kRows; ++i) {
    for (int o = 0; o < kOut; o += 16) {
      __m512 sums[4];
      for (auto& sum : sums) sum = _mm512_setzero_ps();
      for (int k = 0; k < kDepth; k += 16) {
#pragma GCC unroll 16
        for (int j = 0; j < 16; ++j)
          sums[j % 4] =
              _mm512_fmadd_ps(_mm512_set1_ps(x[i * kDepth + k + j]),
                              _mm512_load_ps(panels + o * kDepth + (k + j) * 16), sums[j % 4]);
      }
      _mm512_store_ps(out + i * kOut + o, _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]),
                                                        _mm512_add_ps(sums[2], sums[3])));
    }
  }
}
