// honest: task=row_max
// The last block of 64 is filled up with -inf.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = -INFINITY;
    for (int c = 0; c < kColumns; c += 64) {
      float block[64];
      for (int l = 0; l < 64; ++l)
        block[l] = c + l < kColumns ? x[r * kColumns + c + l] : -INFINITY;
      for (const float value : block) best = best >= value || best != best ? best : value;
    }
    out[r] = best;
  }
}
