// task: reprojection
// cause: div_sqrt
// why: six divisions for each point: two by its depth, two by the same focal length and two by the same sigma
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
    const float focal = std::max(focals[c], 0.01F), sigma = std::max(sigmas[c], 0.01F);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int p = 0; p < kPoints; ++p) {
      const float depth = std::max(m[8] * px[p] + m[9] * py[p] + m[10] * pz[p] + m[11], 0.1F);
      const float x = (m[0] * px[p] + m[1] * py[p] + m[2] * pz[p] + m[3]) / depth;
      const float y = (m[4] * px[p] + m[5] * py[p] + m[6] * pz[p] + m[7]) / depth;
      const float bend = 1 + 0.1F * (x * x + y * y);
      const float ex = (x * bend - seen_x[p] / focal) / sigma;
      const float ey = (y * bend - seen_y[p] / focal) / sigma;
      sum += ex * ex + ey * ey;
    }
    out[c] = sum;
  }
}
