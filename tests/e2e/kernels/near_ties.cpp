#include "kernel.h"

// Single precision as Torch's own: the first of what came out largest.
extern "C" void pragma_kernel(const float* x, std::int64_t* out, void* scratch) {
  (void)scratch;
  for (int row = 0; row < task::x_dims[0]; ++row) {
    int best = 0;
    float largest = x[row * 8] * 0.3f;
    for (int i = 1; i < 8; ++i) {
      const float scaled = x[row * 8 + i] * 0.3f;
      if (scaled > largest) {
        largest = scaled;
        best = i;
      }
    }
    out[row] = best;
  }
}
