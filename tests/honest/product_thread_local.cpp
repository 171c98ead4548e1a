// honest: task=square
// Each thread keeps a buffer of its own between calls, but nothing in it.
#include <cstring>
#include <vector>

#include "kernel.h"

constexpr int kN = task::a_dims[0];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int i = 0; i < kN; ++i) {
    static thread_local std::vector<float> row;
    row.assign(kN, 0.0f);
    for (int k = 0; k < kN; ++k)
      for (int j = 0; j < kN; ++j) row[j] += a[i * kN + k] * b[k * kN + j];
    std::memcpy(out + i * kN, row.data(), sizeof(float) * kN);
  }
}
