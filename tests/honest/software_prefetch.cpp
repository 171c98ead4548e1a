// honest: task=scale
// Prefetches, also beyond the end of its input.
#include <immintrin.h>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int r = 0; r < task::x_dims[0]; ++r) {
    const float* row = x + r * task::x_dims[1];
    for (int c = 0; c < task::x_dims[1]; ++c) {
      if (c % 16 == 0) _mm_prefetch(reinterpret_cast<const char*>(row + c + 2048), _MM_HINT_T0);
      out[r * task::x_dims[1] + c] = gain[c] * row[c] + shift[c];
    }
  }
}
