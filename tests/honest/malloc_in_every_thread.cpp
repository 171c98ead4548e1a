// honest: task=layer_norm
// Each thread gets a buffer of its own from malloc, as many as there are.
#include <cmath>
#include <cstdlib>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* norm_weight, const float* norm_bias,
                              float* out, void* scratch) {
#pragma omp parallel
  {
    auto* centred = static_cast<float*>(std::malloc(kColumns * sizeof(float)));
#pragma omp for schedule(static)
    for (int r = 0; r < kRows; ++r) {
      const float* row = x + r * kColumns;
      float sum = 0, squares = 0;
      for (int c = 0; c < kColumns; ++c) sum += row[c];
      const float mean = sum / kColumns;
      for (int c = 0; c < kColumns; ++c) {
        centred[c] = row[c] - mean;
        squares += centred[c] * centred[c];
      }
      const float factor = 1 / std::sqrt(squares / kColumns + 1e-5f);
      for (int c = 0; c < kColumns; ++c)
        out[r * kColumns + c] = centred[c] * factor * norm_weight[c] + norm_bias[c];
    }
    std::free(centred);
  }
}
