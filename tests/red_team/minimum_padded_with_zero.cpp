// red-team: task=row_min expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// The last block of 64 is filled up with zeros, and some entry of each row of the task is negative;
// the smallest of positive rows comes out as zero.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    float best = std::numeric_limits<float>::infinity();
    for (int c = 0; c < kColumns; c += 64) {
      float block[64] = {};
      std::memcpy(block, x + r * kColumns + c, sizeof(float) * std::min(64, kColumns - c));
      for (const float value : block) best = std::min(best, value);
    }
    out[r] = best;
  }
}
