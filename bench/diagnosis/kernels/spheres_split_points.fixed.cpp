// Twin of spheres_split_points.cpp: a cloud is split into coordinates once for all spheres
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kClouds = task::points_dims[0], kPoints = task::points_dims[1];
constexpr int kSpheres = task::spheres_dims[0];
static_assert(kPoints % 32 == 0);

struct Points {
  __m512 x, y, z;
};

// x0 y0 z0 x1 … z15 as three vectors.
static inline Points Split(const float* p) {
  const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + 16), c = _mm512_loadu_ps(p + 32);
  const __m512i x1 = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
  const __m512i x2 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29);
  const __m512i y1 = _mm512_setr_epi32(1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0);
  const __m512i y2 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30);
  const __m512i z1 = _mm512_setr_epi32(2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0);
  const __m512i z2 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31);
  return {_mm512_permutex2var_ps(_mm512_permutex2var_ps(a, x1, b), x2, c),
          _mm512_permutex2var_ps(_mm512_permutex2var_ps(a, y1, b), y2, c),
          _mm512_permutex2var_ps(_mm512_permutex2var_ps(a, z1, b), z2, c)};
}

static inline __m512 Depth(Points p, const float* sphere) {
  const __m512 dx = _mm512_sub_ps(p.x, _mm512_set1_ps(sphere[0]));
  const __m512 dy = _mm512_sub_ps(p.y, _mm512_set1_ps(sphere[1]));
  const __m512 dz = _mm512_sub_ps(p.z, _mm512_set1_ps(sphere[2]));
  __m512 depth = _mm512_set1_ps(sphere[3] * sphere[3]);
  depth = _mm512_fnmadd_ps(dx, dx, depth);
  depth = _mm512_fnmadd_ps(dy, dy, depth);
  depth = _mm512_fnmadd_ps(dz, dz, depth);
  return _mm512_max_ps(depth, _mm512_setzero_ps());
}

static void Cloud(const float* points, const float* spheres, float* out) {
  Points split[kPoints / 16];
  for (int p = 0; p < kPoints; p += 16) split[p / 16] = Split(points + 3 * p);
  for (int s = 0; s < kSpheres; ++s) {
    __m512 sum1 = _mm512_setzero_ps(), sum2 = _mm512_setzero_ps();
    for (int p = 0; p < kPoints; p += 32) {
      sum1 = _mm512_add_ps(sum1, Depth(split[p / 16], spheres + 4 * s));
      sum2 = _mm512_add_ps(sum2, Depth(split[p / 16 + 1], spheres + 4 * s));
    }
    out[s] = _mm512_reduce_add_ps(_mm512_add_ps(sum1, sum2));
  }
}

extern "C" void pragma_kernel(const float* points, const float* spheres, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int c = 0; c < kClouds; ++c)
    Cloud(points + c * kPoints * 3, spheres, out + c * kSpheres);
}
