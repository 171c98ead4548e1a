// Twin of reprojection_divides_often.cpp: one division by the depth; the rest are multiplications.
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>

#include "kernel.h"

constexpr int kCameras = task::poses_dims[0], kPoints = task::points_dims[1];

extern "C" void pragma_kernel(const float* points, const float* poses, const float* seen, const float* focals,
                              const float* sigmas, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int c = 0; c < kCameras; ++c) {
    const float* px = points;
    const float* py = points + kPoints;
    const float* pz = points + 2 * kPoints;
    const float* m = poses + c * 12;
    const float* seen_x = seen + c * 2 * kPoints;
    const float* seen_y = seen_x + kPoints;
    const float closer = 1 / std::max(focals[c], 0.01F), weight = 1 / std::max(sigmas[c], 0.01F);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int p = 0; p < kPoints; ++p) {
      const float depth = std::max(m[8] * px[p] + m[9] * py[p] + m[10] * pz[p] + m[11], 0.1F);
      const float inverse = 1 / depth;
      const float x = (m[0] * px[p] + m[1] * py[p] + m[2] * pz[p] + m[3]) * inverse;
      const float y = (m[4] * px[p] + m[5] * py[p] + m[6] * pz[p] + m[7]) * inverse;
      const float bend = 1 + 0.1F * (x * x + y * y);
      const float ex = (x * bend - seen_x[p] * closer) * weight;
      const float ey = (y * bend - seen_y[p] * closer) * weight;
      sum += ex * ex + ey * ey;
    }
    out[c] = sum;
  }
}
