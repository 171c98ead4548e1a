// honest: task=square
// The sum is split among threads, which add their parts by atomic operations.
#include "kernel.h"

constexpr int kN = task::a_dims[0];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  for (int i = 0; i < kN * kN; ++i) out[i] = 0;
#pragma omp parallel for schedule(static)
  for (int part = 0; part < 4; ++part)
    for (int i = 0; i < kN; ++i) {
      float sum[kN] = {};
      for (int k = part * kN / 4; k < (part + 1) * kN / 4; ++k)
        for (int j = 0; j < kN; ++j) sum[j] += a[i * kN + k] * b[k * kN + j];
      for (int j = 0; j < kN; ++j) {
#pragma omp atomic
        out[i * kN + j] += sum[j];
      }
    }
}
